import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { check } from './lib/checks.mjs';
import { median, percentile } from './lib/figures.cjs';
import { endOnSignal, withProduct } from './lib/product.mjs';
import { runBench } from './lib/results.mjs';

export const about =
  'the start of the command line, and a save until its result (A1, A2) [--quick] [--write]';

const bench = {
  name: 'cli',
  heading: 'The command line',
  goals: ['A1', 'A2'],
  placement:
    '`glovebox --help` as a process, against `node -e 0` on the same machine; and `glovebox dev` on a reactor in TypeScript: ' +
    'from the write of its file until the result of the sandbox is printed. Milliseconds.',
};

const program = fileURLToPath(new URL('../dist/apps/cli/glovebox.mjs', import.meta.url));

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ quick }) => {
    endOnSignal();
    const times = quick ? 5 : 20;
    const starts = timesOf(times, [program, '--help']);
    const bare = timesOf(times, ['-e', '0']);
    const title = `start (Node alone: ${median(bare).toFixed(0)} ms)`;
    const checks = [check('A1', title, median(starts), ['≤', 150], ' ms')];
    await withProduct({}, async (dev) => {
      const saves = await savesOf(dev, times);
      const p99 = percentile(saves, 0.99).toFixed(0);
      const what = `save to result, p50 of ${times} (p99 ${p99} ms)`;
      checks.push(check('A2', what, median(saves), ['≤', 300], ' ms'));
    });
    return { checks, details: { starts, bare } };
  });

/**
 * @param {number} times
 * @param {readonly string[]} args
 */
function timesOf(times, args) {
  return Array.from({ length: times }, () => {
    const begun = performance.now();
    execFileSync(process.execPath, args, { stdio: 'ignore' });
    return performance.now() - begun;
  });
}

/**
 * @param {import('../tools/lib/types.js').Dev} dev
 * @param {number} times
 */
async function savesOf(dev, times) {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-author-'));
  const env = { ...process.env, GLOVEBOX_URL: dev.baseUrl, GLOVEBOX_KEY: dev.adminKey };
  execFileSync(process.execPath, [program, 'init', folder], { stdio: 'ignore' });
  const child = spawn(process.execPath, [program, 'dev', 'hello', '--json'], { cwd: folder, env });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    /** @param {string} wanted */
    const resultOf = async (wanted) => {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error('dev has ended');
        if (JSON.parse(value).result?.raw.hello === wanted) return performance.now();
      }
    };
    const file = join(folder, 'reactors', 'hello', 'code.ts');
    const source = readFileSync(file, 'utf8');
    await resultOf('Ada');
    const took = [];
    for (let nth = 0; nth < times; nth += 1) {
      await sleep(200);
      const begun = performance.now();
      writeFileSync(file, source.replace('hello: args.name', `hello: args.name + '${nth}'`));
      took.push((await resultOf(`Ada${nth}`)) - begun);
    }
    return took;
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
