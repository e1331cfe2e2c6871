// npm run lint: module boundaries, code rules and unused code of the whole repository.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './lib/processes.mjs';
import { script, Trouble } from './lib/progress.mjs';
import { repoRoot } from './lib/repo.mjs';
import { unusedCode } from './lib/unused-code.mjs';

const help = `
npm run lint [-- --fix]

Builds the project graph, then runs ESLint. Without the graph ESLint would skip the rule of the
module boundaries and still succeed, so a skipped rule is a failure here. Oxlint checks the rules that
need types (.oxlintrc.json). Then Knip looks for files and exports that nothing uses, or that tests
alone use (knip.config.js).`;

await script(help, async (args) => {
  const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false', FORCE_COLOR: '0' };
  const options = { cwd: repoRoot, env };
  /** @param {string} name */
  const bin = (name) => join(repoRoot, 'node_modules', '.bin', name);
  mkdirSync(join(repoRoot, '.nx'), { recursive: true });
  const file = join(repoRoot, '.nx', `graph-${process.pid}.json`);
  const graph = await run(bin('nx'), ['graph', `--file=${file}`], options);
  rmSync(file, { force: true });
  if (graph.code !== 0) throw new Trouble(`The project graph failed:\n${graph.output.trim()}`);
  const folders = ['acceptance', 'apps', 'k8s', 'libs'];
  const [lint, typed, unused] = await Promise.all([
    run(bin('eslint'), ['.', '--max-warnings=0', ...args], options),
    run(bin('oxlint'), ['--type-aware', ...folders], options),
    unusedCode(repoRoot),
  ]);
  if (lint.output.includes('rule will be skipped')) {
    throw new Trouble(`The module boundaries were not checked:\n${lint.output.trim()}`);
  }
  if (lint.code !== 0) throw new Trouble(lint.output.trim());
  if (typed.code !== 0) throw new Trouble(typed.output.trim());
  if (unused !== '') throw new Trouble(unused);
});
