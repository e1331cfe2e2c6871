// node tools/pack.mjs [FOLDER]
import { join, resolve } from 'node:path';
import { packPackages } from './lib/packages.mjs';
import { script } from './lib/progress.mjs';
import { repoRoot } from './lib/repo.mjs';

const help = `
node tools/pack.mjs [FOLDER]

Packs @glovebox/client and @glovebox/reactor-types as npm publishes them, into dist/packages or the folder.`;

await script(help, async ([folder = join(repoRoot, 'dist', 'packages')]) => {
  for (const file of await packPackages(resolve(folder))) console.log(file);
});
