import { join } from 'node:path';
import { run } from './processes.mjs';
import { repoRoot } from './repo.mjs';

/**
 * Files that nothing loads and exports that nothing imports, as Knip lists them, then those that
 * specs and measurements alone use. Both are empty in a tidy repository.
 *
 * @param {string} root
 */
export async function unusedCode(root) {
  const knip = join(repoRoot, 'node_modules', '.bin', 'knip');
  const runs = [[], ['--production']].map((args) =>
    run(knip, ['--no-progress', '--no-config-hints', ...args], { cwd: root }),
  );
  const found = (await Promise.all(runs)).filter(({ code }) => code !== 0);
  return found.map(({ output }) => output.trim()).join('\n');
}
