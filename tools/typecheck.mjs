// npm run typecheck: the types of everything, by the compiler that is a native program.
import { join } from 'node:path';
import { run } from './lib/processes.mjs';
import { script, Trouble } from './lib/progress.mjs';
import { repoRoot } from './lib/repo.mjs';

const help = `
npm run typecheck

Checks apps and libs, then the scripts, then the page of the console.`;

const projects = ['tsconfig.json', 'tsconfig.scripts.json', 'apps/console'];

await script(help, async () => {
  // typescript 6 is here for programs that load the compiler: ESLint and the checks of k8s/.
  const tsc = join(repoRoot, 'node_modules', 'typescript-7', 'bin', 'tsc');
  for (const project of projects) {
    const { code, output } = await run(process.execPath, [tsc, '--noEmit', '-p', project], {
      cwd: repoRoot,
    });
    if (code !== 0) throw new Trouble(output.trim());
  }
});
