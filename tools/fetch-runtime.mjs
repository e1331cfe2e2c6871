// Installs Node.js versions that code may run on. See --help.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fetchRuntime } from './lib/install.mjs';
import { script, Trouble } from './lib/progress.mjs';

const help = `
usage: node tools/fetch-runtime.mjs apps/runner/runtimes/node24 …

Installs runtimes for code (node16, node20, node22, node24) from the npm registry, in the versions
that their folders pin. npm start does it for node16 and node20, and the runner for the others at
their first use.`;

// What is half fetched is removed at an exit, which a signal alone is not.
process.once('SIGTERM', () => process.exit(1));

await script(help, async (folders) => {
  if (folders.length === 0) throw new Trouble(`Which runtime?\n${help}`);
  for (const folder of folders) {
    if (!existsSync(join(folder, 'package-lock.json'))) {
      throw new Trouble(`${folder} is no folder of a runtime.\n${help}`);
    }
    await fetchRuntime(resolve(folder));
  }
});
