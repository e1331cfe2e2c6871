import { waitFor } from '@glovebox/testing';
import { specRuntimes, withRunner, type SpecRunner } from '../spec-runner';
import type { EndReason } from './end-reasons';

const ended = (runner: SpecRunner, reason: EndReason): number =>
  runner.ctx.pool.ended.get(reason) ?? 0;

async function callsOf(runner: SpecRunner, code: string): Promise<unknown> {
  const outcome = await runner.run(code);
  return outcome.kind === 'returned' ? (outcome.value as { calls: number }).calls : outcome;
}

const counting = (act = ''): string =>
  `let calls = 0; module.exports = () => { calls += 1; ${act}; return { calls } }`;

it('a process that has served its number of runs is replaced', () =>
  withRunner({ SANDBOX_RUNS_MAX: '3' }, async (runner) => {
    for (const calls of [1, 2, 3]) expect(await callsOf(runner, counting())).toBe(calls);
    await waitFor(() => ended(runner, 'runs') === 1);
    expect(await callsOf(runner, counting())).toBe(1);
  }));

it('a process that is too old is replaced, after a run and without one', () =>
  withRunner({ SANDBOX_AGE_MS: '1000' }, async (runner) => {
    const code = `let calls = 0; module.exports = ({ args }) => new Promise((resolve) =>
      setTimeout(resolve, args.ms, { calls: (calls += 1) }))`;
    expect(await runner.run(code, { args: { ms: 1_100 } })).toMatchObject({ value: { calls: 1 } });
    await waitFor(() => ended(runner, 'age') === 1);
    expect(await runner.run(code, { args: { ms: 1 } })).toMatchObject({ value: { calls: 1 } });
    await waitFor(() => ended(runner, 'age') === 2);
  }));

it('a process that keeps more than half of its memory after a run is replaced', () =>
  withRunner({ SANDBOX_MEMORY_MB: '192' }, async (runner) => {
    const code = counting('(globalThis.kept ??= []).push(Buffer.alloc(40 * 1024 * 1024, 1))');
    expect(await callsOf(runner, code)).toBe(1);
    await waitFor(() => runner.ctx.pool.shares['running_sandboxes']?.state.held === 0);
    for (const calls of [2, 3]) expect(await callsOf(runner, code)).toBe(calls);
    await waitFor(() => ended(runner, 'memory') === 1);
    expect(await callsOf(runner, code)).toBe(1);
  }));

it.each(specRuntimes)('a process on %s that got no memory and went on is replaced', (runtime) =>
  withRunner({ SANDBOX_MEMORY_MB: '192', RUNNER_RUNTIMES: runtime }, async (runner) => {
    const code = 'module.exports = () => { Buffer.alloc(250 * 1024 * 1024); return {} }';
    const outcome = await runner.run(code, { runtime });
    expect(outcome).toMatchObject({ kind: 'threw', error: { name: 'RangeError' } });
    expect(ended(runner, 'memory')).toBe(1);
  }),
);

describe.each(specRuntimes)('on %s', (runtime) => {
  it.each([
    ['a timer', 'setTimeout(() => {}, 60_000)'],
    ['an interval', 'setInterval(() => {}, 60_000)'],
    ['a chain of immediates', 'const again = () => setImmediate(again); again()'],
    ['a timer that begins to spin', 'setTimeout(() => { for (;;); }, 1)'],
  ])('a process that %s was left in is replaced, and the answer stands', (_, act) =>
    withRunner({ RUNNER_RUNTIMES: runtime }, async (runner) => {
      const run = () => runner.run(counting(act), { runtime });
      expect(await run()).toMatchObject({ value: { calls: 1 } });
      await waitFor(() => ended(runner, 'leftovers') + ended(runner, 'silent') === 1);
      expect(await run()).toMatchObject({ value: { calls: 1 } });
    }),
  );

  it('a process whose run has cleared its timers is used again', () =>
    withRunner({ RUNNER_RUNTIMES: runtime }, async (runner) => {
      const code = counting('clearTimeout(setTimeout(() => {}, 60_000))');
      for (const calls of [1, 2, 3]) {
        expect(await runner.run(code, { runtime })).toMatchObject({ value: { calls } });
      }
      expect(ended(runner, 'leftovers')).toBe(0);
    }));
});

/** The timer hides from the question for leftovers. */
const hiding = (delayMs: number): string => `module.exports = ({ args }) => {
  if (args.spin) setTimeout(() => { for (;;); }, ${delayMs}).unref(); return {} }`;

it.each([
  ['at once', 1],
  ['when the process is idle', 60],
])('a process that spins %s costs the next run little, and is ended', (_, delayMs) =>
  withRunner({}, async (runner) => {
    const timed = async (code: string, more = {}): Promise<number> => {
      const startedAt = performance.now();
      const outcome = await runner.run(code, { args: {}, timeoutMs: 5_000, ...more });
      expect(outcome).toMatchObject({ kind: 'returned' });
      return performance.now() - startedAt;
    };
    let isLittle = false;
    // Other work of the machine may delay one of them.
    for (let attempt = 1; attempt <= 5 && !isLittle; attempt += 1) {
      const code = `${hiding(delayMs)} // ${attempt}`;
      await timed(code, { args: { spin: true } });
      // The frozen process goes on where it was, once it is woken.
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      const nextMs = await timed(code);
      await waitFor(() => ended(runner, 'silent') === attempt);
      expect(runner.ctx.pool.counts.loaded).toBe(attempt);
      const aloneMs = await timed(code, { isolation: 'run' });
      isLittle = nextMs < Math.max(400, 3 * aloneMs);
    }
    expect(isLittle).toBe(true);
  }),
);

it('a sandbox that ended is counted by its reason, and its memory and places are gauges', () =>
  withRunner({}, async (runner) => {
    await runner.run(counting(), { isolation: 'run' });
    await runner.run('module.exports = () => { for (;;); }', { timeoutMs: 100 });
    await runner.run('module.exports = () => { process.kill = 0; throw new Error() }');
    const text = await runner.ctx.registry.metrics();
    expect(text).toMatch(/^glovebox_sandbox_ended_total\{.*reason="run".*\} 1$/m);
    expect(text).toMatch(/^glovebox_sandbox_ended_total\{.*reason="timed_out".*\} 1$/m);
    expect(text).toMatch(/^glovebox_sandbox_ended_total\{.*reason="evicted".*\} 0$/m);
    for (const kind of ['cap', 'reserved', 'private']) {
      expect(text).toMatch(
        new RegExp(`^glovebox_sandbox_memory_bytes\\{.*kind="${kind}".*\\} \\d{7,}$`, 'm'),
      );
    }
    expect(text).toMatch(/^glovebox_sandbox_oldest_wait_seconds(\{.*\})? 0$/m);
  }));
