// npm run test:nodes: the tests under each Node.js that runs Glovebox. See --help.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fetchRuntime, installDependencies, runtimeFolder } from './lib/install.mjs';
import { jestProjects } from './lib/test-run/jest-run.mjs';
import { endPassing, run } from './lib/processes.mjs';
import { requireNode, script, step, Trouble } from './lib/progress.mjs';
import { repoRoot } from './lib/repo.mjs';

const help = `
npm run test:nodes                  every Jest project and acceptance under Node 20.19.0, 22 and 24,
                                    then **/*.nodes.ts, which need the npm registry
npm run test:nodes -- 22 24         under these alone
npm run test:nodes -- 24 gateway    these projects alone

The binaries come from npm. Under Node 24 the specs of the runner also run code on node22 and node24.
A line for each run says "Node V: N passed, N failed". The last line has the sums, and the exit code
is 0 only when nothing failed.`;

/** @type {Readonly<Record<string, string>>} */
const folders = {
  20: join(repoRoot, 'tools', 'oldest-node'),
  22: runtimeFolder('node22'),
  24: runtimeFolder('node24'),
};
const newest = '24';
/** A run that is told to end stops its services, which takes it some seconds. */
const endMs = 60_000;
/** @param {string} arg */
const isVersion = (arg) => Object.hasOwn(folders, arg);

await script(help, async (args) => {
  requireNode();
  endOnSignal();
  const versions = args.filter(isVersion);
  const chosen = args.filter((arg) => !isVersion(arg));
  const known = jestProjects().map(({ name }) => name);
  const unknown = chosen.find((name) => !name.startsWith('-') && !known.includes(name));
  if (unknown) throw new Trouble(`There is no version or project "${unknown}".\n${help}`);
  await installDependencies();
  let passed = 0;
  let failed = 0;
  for (const version of versions.length > 0 ? versions : Object.keys(folders)) {
    const runs = [chosen.length > 0 ? chosen : known];
    if (version === newest && chosen.length === 0) runs.push(['nodes']);
    for (const each of runs) {
      const counts = await testUnder(version, each);
      passed += counts.passed;
      failed += counts.failed;
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});

/** A run has a process group of its own, which a signal to this script does not reach. */
function endOnSignal() {
  let ending = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal signals the whole group and npm passes it on: one Ctrl-C can arrive twice.
      if (ending) return;
      ending = true;
      void endPassing({ graceMs: endMs, last: true });
    });
  }
}

/**
 * @param {string} version
 * @param {readonly string[]} args
 */
async function testUnder(version, args) {
  const folder = folders[version] ?? '';
  await step(`Node ${version} (npm ci)`, () => fetchRuntime(folder));
  const runtimes = ['node16', 'node20', ...(version === newest ? ['node22', 'node24'] : [])];
  for (const runtime of runtimes) await fetchRuntime(runtimeFolder(runtime));
  const node = join(folder, 'node_modules', process.arch, 'bin', 'node');
  // What is started as `node` must be this one as well.
  const bin = mkdtempSync(join(tmpdir(), 'glovebox-node-'));
  symlinkSync(node, join(bin, 'node'));
  try {
    const { code, output } = await run(node, [join(repoRoot, 'tools', 'test.mjs'), ...args], {
      cwd: repoRoot,
      env: {
        ...process.env,
        PATH: `${bin}${delimiter}${process.env.PATH}`,
        TEST_RUNTIMES: runtimes.join(),
      },
      onOutput: (text) => process.stdout.write(text),
    });
    const counts = countsOf(output, code);
    console.log(`Node ${version}: ${counts.passed} passed, ${counts.failed} failed`);
    return counts;
  } finally {
    rmSync(bin, { recursive: true, force: true });
  }
}

/**
 * Reads the last line of `npm test`. A run that says nothing, or ends badly, has failed.
 *
 * @param {string} output
 * @param {number} code
 */
function countsOf(output, code) {
  const [, passed = 0, failed = 1] =
    /^(\d+) passed, (\d+) failed\s*$/m.exec(lastLine(output)) ?? [];
  return { passed: Number(passed), failed: Math.max(Number(failed), code === 0 ? 0 : 1) };
}

/** @param {string} output */
function lastLine(output) {
  return output.trimEnd().split('\n').at(-1) ?? '';
}
