import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { waitFor } from '@glovebox/testing';
import { specLevels, withRunner } from '../spec-runner';

const counting = 'let calls = 0; module.exports = async () => ({ calls: (calls += 1) })';
const pid = 'module.exports = async () => ({ pid: process.pid })';

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

it('a run without capacity is no time-out, and starts nothing', () =>
  withRunner({ SANDBOX_PROCESSES: '1', SANDBOX_QUEUE_WAIT_MS: '100' }, async (runner) => {
    const busy = runner.run(sleeping('busy'), { args: { ms: 600 } });
    await until(() => runner.ctx.pool.counts.loaded === 1);
    expect(await runner.run(counting)).toEqual({ kind: 'no_capacity' });
    expect(await busy).toMatchObject({ kind: 'returned' });
    expect(await runner.run(counting)).toMatchObject({ value: { calls: 1 } });
  }));

it('neither one tenant nor two together can take all places', () =>
  withRunner({ SANDBOX_PROCESSES: '4', SANDBOX_QUEUE_WAIT_MS: '100' }, async (runner) => {
    const stop = new AbortController();
    const busy = (tenantId: string, codeHash: string) =>
      runner.run(
        sleeping('busy'),
        { tenantId, codeHash, args: { ms: 9_000 } },
        { signal: stop.signal },
      );
    const taken = [busy('a', '1'), busy('a', '2'), busy('b', '1')];
    await until(() => runner.ctx.pool.counts.loaded === 3);
    for (const tenantId of ['a', 'b']) {
      expect(await runner.run(counting, { tenantId })).toEqual({ kind: 'no_capacity' });
    }
    expect(await runner.run(counting, { tenantId: 'c' })).toMatchObject({ kind: 'returned' });
    stop.abort();
    await Promise.all(taken);
  }));

it('a place that comes free goes to the tenant that holds least, however long others have waited', () =>
  withRunner({ SANDBOX_PROCESSES: '2', SANDBOX_QUEUE_WAIT_MS: '9000' }, async (runner) => {
    const served: string[] = [];
    const run = async (tenantId: string, codeHash: string, ms: number) => {
      const outcome = await runner.run(sleeping(codeHash), { tenantId, codeHash, args: { ms } });
      served.push(tenantId);
      return outcome;
    };
    const busy = [run('a', 'first', 600), run('b', 'first', 9_000)];
    await until(() => runner.ctx.pool.counts.loaded === 2 && runner.ctx.pool.counts.waiting === 0);
    const waiting = ['2', '3', '4'].map((key) => run('a', key, 50));
    await until(() => runner.ctx.pool.counts.waiting === 3);
    waiting.push(run('c', 'only', 50));
    await Promise.all([busy[0], ...waiting]);
    expect(served.slice(0, 2)).toEqual(['a', 'c']);
    await runner.client.close();
    await busy[1];
  }));

it('a tenant that needs a place ends an idle process of the one that holds most', () =>
  withRunner({ SANDBOX_PROCESSES: '4' }, async (runner) => {
    const run = (tenantId: string, codeHash: string) =>
      runner.run(counting, { tenantId, codeHash });
    for (const key of ['1', '2']) await run('a', key);
    await run('b', '1');
    await run('c', '1');
    expect(await run('d', '1')).toMatchObject({ value: { calls: 1 } });
    expect(await run('b', '1')).toMatchObject({ value: { calls: 2 } });
    expect(await run('c', '1')).toMatchObject({ value: { calls: 2 } });
    expect(await run('a', '2')).toMatchObject({ value: { calls: 2 } });
    expect(runner.ctx.pool.counts.loaded).toBe(4);
  }));

it('an idle process makes room for another key', () =>
  withRunner({ SANDBOX_PROCESSES: '4' }, async (runner) => {
    for (const key of ['a', 'b', 'c', 'd']) {
      expect(await runner.run(counting, { codeHash: key })).toMatchObject({ value: { calls: 1 } });
    }
    expect(await runner.run(counting, { codeHash: 'd' })).toMatchObject({ value: { calls: 2 } });
    expect(runner.ctx.pool.counts.loaded).toBe(2);
  }));

it('a tenant that starts many sandboxes does not keep another one waiting for its first', () =>
  withRunner({ SANDBOX_STARTS: '2' }, async (runner) => {
    const started: string[] = [];
    const first = async (tenantId: string, codeHash: string) => {
      const outcome = await runner.run(counting, { tenantId, codeHash });
      started.push(outcome.kind === 'returned' ? tenantId : outcome.kind);
    };
    const many = Array.from({ length: 12 }, (_, nth) => first('many', String(nth)));
    await until(() => runner.ctx.pool.counts.loaded === 12);
    await Promise.all([...many, first('one', 'only')]);
    expect(started.filter((tenant) => tenant === 'many')).toHaveLength(12);
    expect(started.indexOf('one')).toBeLessThan(6);
  }));

it('a sandbox that nobody waits for any more when it is ready is kept for the next key', () =>
  withRunner({ SANDBOX_GROW_AFTER_MS: '1', SANDBOX_WARM: '1' }, async (runner) => {
    const { pool } = runner.ctx;
    const leaves = new AbortController();
    await runner.run(pid, { isolation: 'run' });
    // One of its runtime, and one of the runtime that is warm from the start.
    await until(() => pool.counts.generic === 2 && children().length === 2);
    const warm = children();
    const first = runner.run(sleeping('short'), { args: { ms: 500 } });
    const second = runner.run(sleeping('short'), {}, { signal: leaves.signal });
    // At its start: once it is ready, it has the run.
    while (pool.counts.loaded < 2) await nextTurn();
    const grown = children().find((child) => !warm.includes(child));
    leaves.abort();
    await second;
    expect(await first).toMatchObject({ kind: 'returned' });
    // The stock has been filled up meanwhile, and is one too many.
    await until(() => children().length === 3 && pool.counts.generic === 2);
    expect(pool.counts.loaded).toBe(1);
    expect(grown).toBeDefined();
    expect(children()).toEqual([...warm, grown]);
  }));

it('runs that wait get more processes, up to the limit, and all are served', () =>
  withRunner({ SANDBOX_PROCESSES_PER_KEY: '3', SANDBOX_QUEUE_WAIT_MS: '9000' }, async (runner) => {
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

it('the other runs of a reactor go on when one of them times out', () =>
  withRunner({}, async (runner) => {
    const code = sleeping('same');
    const late = runner.run(code, { args: { ms: 5_000 }, timeoutMs: 200 });
    const fine = runner.run(code, { args: { ms: 400 } });
    expect((await late).kind).toBe('timed_out');
    expect((await fine).kind).toBe('returned');
  }));

it('a process that keeps spinning after its run is ended', () =>
  withRunner({}, async (runner) => {
    const code = 'module.exports = () => { setTimeout(() => { for (;;); }, 1); return {} }';
    expect(await runner.run(code)).toMatchObject({ kind: 'returned' });
    await until(() => runner.ctx.pool.counts.loaded === 0, 8_000);
  }));

it.each(specLevels)(
  '40 kills at level %i leave no zombie, no file descriptor and no process',
  (level) =>
    withRunner({ SANDBOX_LEVEL: String(level) }, async (runner) => {
      const descriptors = (): number => readdirSync('/proc/self/fd').length;
      await runner.run(pid, { isolation: 'run' });
      const { pool } = runner.ctx;
      const isQuiet = (): boolean => pool.counts.loaded === 0 && pool.counts.generic === 2;
      await until(isQuiet);
      const childrenBefore = children().length;
      const before = descriptors();
      for (let i = 0; i < 10; i += 1) {
        await Promise.all(
          ['1', '2', '3', '4'].map((codeHash) => runner.run(pid, { isolation: 'run', codeHash })),
        );
      }
      await until(() => isQuiet() && children().length <= childrenBefore);
      await until(() => !children().map(stateOf).includes('Z'));
      await until(() => descriptors() <= before + 2);
    }),
);

it.each(specLevels)(
  'every thread of a sandbox that has a run gives way to the product at level %i',
  (level) =>
    withRunner({ SANDBOX_LEVEL: String(level) }, async (runner) => {
      const code = `const zlib = require('zlib');
        module.exports = () => new Promise((done) => zlib.deflate('x', () => done({})))`;
      expect(await runner.run(code)).toMatchObject({ kind: 'returned' });
      // Bubblewrap has a monitor as well, which does no work.
      const sandboxes = (): string[] =>
        children().flatMap((child) => (level === 3 ? childrenOf(child) : [child]));
      await until(() => sandboxes().length > 0);
      await until(() => sandboxes().every((pid) => nicesOf(pid).every((nice) => nice === 10)));
      expect(sandboxes().flatMap(nicesOf).length).toBeGreaterThan(5);
      // Scheduler groups, where the kernel makes them, compete by a priority of their own.
      const own = groupOf('self');
      const groups = (): string[] => sandboxes().map(groupOf);
      await until(() => groups().every((group) => group === own || group.endsWith(' nice 10')));
      expect(groupOf('self')).toBe(own);
    }),
);

function groupOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/autogroup`, 'utf8').trim();
  } catch {
    return '';
  }
}

function nicesOf(pid: string): number[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

/** Children of this process that Jest has started are no sandboxes. */
const others = childrenOf('self');
const children = (): string[] => childrenOf('self').filter((pid) => !others.includes(pid));

function childrenOf(pid: string): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
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

it.each(specLevels)(
  'a sandbox that is ended while it starts leaves no process: level %i',
  (level) =>
    // Its processes are found by a limit that no other spec has.
    withRunner({ SANDBOX_LEVEL: String(level), SANDBOX_MEMORY_MB: '211' }, async (runner) => {
      await waitFor(() => runner.ctx.pool.counts.generic === 1);
      const before = processesWith('--data-mb 211').length;
      for (let i = 0; i < 30; i += 1) {
        const sandbox = runner.ctx.startSandbox('node20');
        const endsAt = performance.now() + i / 2;
        while (performance.now() < endsAt) await new Promise((resolve) => setImmediate(resolve));
        sandbox.kill('not wanted any more');
        await sandbox.exited;
      }
      await waitFor(() => processesWith('--data-mb 211').length <= before);
    }),
);

function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text);
    } catch {
      return false;
    }
  });
}
