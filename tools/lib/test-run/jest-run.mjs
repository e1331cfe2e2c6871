import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../repo.mjs';

/** Its specs need a browser, and the whole product. */
export const browserFolder = join('acceptance', 'browser');

/** The folders of all Jest projects with their short names for `npm test -- NAME`. */
export function jestProjects() {
  const nested = ['libs', 'apps'].flatMap((area) =>
    readdirSync(join(repoRoot, area)).map((name) => ({ name, folder: join(area, name) })),
  );
  const whole = ['acceptance', 'bench', 'k8s', 'tools'].map((name) => ({ name, folder: name }));
  const all = [...nested, ...whole, { name: 'browser', folder: browserFolder }];
  return all.filter(({ folder }) => existsSync(join(repoRoot, folder, 'jest.config.js')));
}

/**
 * One Jest for all projects: one result, no cached results, no task runner that may hang.
 *
 * @param {readonly string[]} folders
 * @param {{ resultFile: string, testMatch?: string | undefined, workers?: number, more?: readonly string[] }} options
 * @returns {[command: string, args: string[]]}
 */
export function jestCommand(folders, { resultFile, testMatch, workers = 2, more = [] }) {
  return [
    process.execPath,
    [
      join(repoRoot, 'node_modules', 'jest', 'bin', 'jest.js'),
      '--ci',
      '--passWithNoTests',
      `--maxWorkers=${workers}`,
      `--testSequencer=${join(repoRoot, 'tools', 'lib', 'test-run', 'longest-first.mjs')}`,
      // Specs leave things in a worker that make its later ones slow: beyond this it starts anew.
      '--workerIdleMemoryLimit=500MB',
      // tools/jest-environment.js has named what specs leave open. A busy machine may be slow to end.
      '--workerGracefulExitTimeout=10000',
      // Jest ignores the time-out of a project's configuration when it runs several.
      '--testTimeout=120000',
      '--json',
      `--outputFile=${resultFile}`,
      ...(testMatch ? [`--testMatch=${testMatch}`] : []),
      ...more,
      '--projects',
      ...folders,
    ],
  ];
}

/**
 * Whether a timer or connection of a test keeps Jest or one of its workers from ending.
 *
 * @param {string} output
 */
export const lingers = (output) => /failed to exit gracefully|Jest did not exit/.test(output);

/**
 * Counts from the result of Jest. A suite that did not run has no failed test, so it counts by
 * itself, and so does a Jest that does not end. `strict` counts skipped tests as failed: they
 * promise what nobody checked.
 *
 * @param {{ resultFile: string, code: number, output: string, timedOut: boolean, strict: boolean }} run
 */
export function jestCounts({ resultFile, code, output, timedOut, strict }) {
  if (timedOut || !existsSync(resultFile)) return { passed: 0, failed: 1, total: 0 };
  const result = JSON.parse(readFileSync(resultFile, 'utf8'));
  const skipped = strict ? result.numPendingTests + result.numTodoTests : 0;
  if (skipped > 0) console.log(`${skipped} skipped tests count as failed`);
  const open = lingers(output) ? 1 : 0;
  if (open > 0) console.log('What tests left open kept Jest from ending, which counts as failed');
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites + skipped + open;
  return {
    passed: result.numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    total: result.numTotalTests,
  };
}
