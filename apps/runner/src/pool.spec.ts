import { readdirSync, readFileSync } from 'node:fs';
import { specLevels, startSpecRunner, type SpecRunner } from './spec-runner';

const counting = 'let calls = 0; module.exports = async () => ({ calls: (calls += 1) })';
const pid = 'module.exports = async () => ({ pid: process.pid })';

async function withRunner(
  env: Readonly<Record<string, string>>,
  check: (runner: SpecRunner) => Promise<void>,
): Promise<void> {
  const runner = await startSpecRunner(env);
  try {
    await check(runner);
  } finally {
    await runner.stop();
  }
}

const sleeping = (name: string): string =>
  `module.exports = ({ args }) => new Promise((resolve) => setTimeout(resolve, args.ms, { name: '${name}' }))`;

it('a process keeps its module state for runs of the same key, and never serves another', () =>
  withRunner({}, async (runner) => {
    const value = async (more: object) => {
      const outcome = await runner.run(counting, { codeHash: 'one', ...more });
      return outcome.kind === 'returned' ? (outcome.value as { calls: number }).calls : outcome;
    };
    expect(await value({})).toBe(1);
    expect(await value({})).toBe(2);
    expect(await value({ tenantId: 'other' })).toBe(1);
    expect(await value({ resourceId: 'other' })).toBe(1);
    expect(await value({ codeHash: 'other' })).toBe(1);
    expect(await value({ applicationId: 'other' })).toBe(1);
    expect(await value({ runtime: 'node16' })).toBe(1);
    expect(await value({})).toBe(3);
  }));

it('isolation "run" gives each run a process of its own', () =>
  withRunner({}, async (runner) => {
    const pids = new Set<unknown>();
    for (let i = 0; i < 4; i += 1) {
      const outcome = await runner.run(pid, { isolation: 'run' });
      pids.add(outcome.kind === 'returned' && (outcome.value as { pid: number }).pid);
      expect(await runner.run(counting, { isolation: 'run' })).toMatchObject({
        value: { calls: 1 },
      });
    }
    expect(pids.size).toBe(4);
    expect(runner.ctx.pool.counts.loaded).toBe(0);
  }));

it('no capacity is told apart from a time-out, and nothing was started', () =>
  withRunner({ SANDBOX_PROCESSES: '1', SANDBOX_QUEUE_WAIT_MS: '100' }, async (runner) => {
    const busy = runner.run(sleeping('busy'), { args: { ms: 600 } });
    await until(() => runner.ctx.pool.counts.loaded === 1);
    expect(await runner.run(counting)).toEqual({ kind: 'no_capacity' });
    expect(await busy).toMatchObject({ kind: 'returned' });
    expect(await runner.run(counting)).toMatchObject({ value: { calls: 1 } });
  }));

it('one tenant cannot take the places of all', () =>
  withRunner(
    { SANDBOX_PROCESSES_PER_TENANT: '1', SANDBOX_QUEUE_WAIT_MS: '100' },
    async (runner) => {
      const busy = runner.run(sleeping('busy'), { args: { ms: 500 } });
      await until(() => runner.ctx.pool.counts.loaded === 1);
      expect(await runner.run(counting)).toEqual({ kind: 'no_capacity' });
      expect(await runner.run(counting, { tenantId: 'another' })).toMatchObject({
        kind: 'returned',
      });
      await busy;
    },
  ));

it('an idle process makes room for another key', () =>
  withRunner({ SANDBOX_PROCESSES: '2' }, async (runner) => {
    for (const key of ['a', 'b', 'c', 'd']) {
      expect(await runner.run(counting, { codeHash: key })).toMatchObject({ value: { calls: 1 } });
    }
    expect(await runner.run(counting, { codeHash: 'd' })).toMatchObject({ value: { calls: 2 } });
    expect(runner.ctx.pool.counts.loaded).toBe(2);
  }));

it('runs that wait get more processes, up to the limit, and all are served', () =>
  withRunner({ SANDBOX_PROCESSES_PER_KEY: '3' }, async (runner) => {
    const runs = Array.from({ length: 9 }, () => runner.run(sleeping('x'), { args: { ms: 150 } }));
    for (const outcome of await Promise.all(runs)) expect(outcome.kind).toBe('returned');
    expect(runner.ctx.pool.counts.loaded).toBe(3);
  }));

it('short runs share one process instead of starting more', () =>
  withRunner({ SANDBOX_GROW_AFTER_MS: '5000', SANDBOX_QUEUE_WAIT_MS: '5000' }, async (runner) => {
    await runner.run(counting);
    const runs = await Promise.all(Array.from({ length: 100 }, () => runner.run(counting)));
    expect(runs.every((outcome) => outcome.kind === 'returned')).toBe(true);
    expect(runner.ctx.pool.counts.loaded).toBe(1);
  }));

it('the others go on when one run of the same reactor times out', () =>
  withRunner({}, async (runner) => {
    const code = sleeping('same');
    const late = runner.run(code, { args: { ms: 5_000 }, timeoutMs: 200 });
    const fine = runner.run(code, { args: { ms: 400 } });
    expect((await late).kind).toBe('timed_out');
    expect((await fine).kind).toBe('returned');
  }));

it('a process that keeps spinning after its run is taken away', () =>
  withRunner({}, async (runner) => {
    const code = 'module.exports = () => { setTimeout(() => { for (;;); }, 1); return {} }';
    expect(await runner.run(code)).toMatchObject({ kind: 'returned' });
    await until(() => runner.ctx.pool.counts.loaded === 0, 8_000);
  }));

it.each(specLevels)(
  '100 kills at level %i leave no zombie, no file descriptor and no process',
  (level) =>
    withRunner({ SANDBOX_LEVEL: String(level) }, async (runner) => {
      const descriptors = (): number => readdirSync('/proc/self/fd').length;
      await runner.run(pid, { isolation: 'run' });
      const { pool } = runner.ctx;
      const isQuiet = (): boolean => pool.counts.loaded === 0 && pool.counts.generic === 2;
      await until(isQuiet);
      const childrenBefore = children().length;
      const before = descriptors();
      for (let i = 0; i < 50; i += 1) {
        await Promise.all([
          runner.run(pid, { isolation: 'run' }),
          runner.run(pid, { isolation: 'run', codeHash: 'second' }),
        ]);
      }
      await until(() => isQuiet() && children().length <= childrenBefore);
      expect(children().map(stateOf)).not.toContain('Z');
      await until(() => descriptors() <= before + 2);
    }),
);

function children(): string[] {
  return readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
}

function stateOf(process: string): string | undefined {
  return /\) (\w)/.exec(readFileSync(`/proc/${process}/stat`, 'utf8'))?.[1];
}

async function until(condition: () => boolean, limitMs = 5_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not so within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
