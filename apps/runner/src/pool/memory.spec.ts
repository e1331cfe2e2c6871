import { waitFor } from '@glovebox/testing';
import { withRunner, type SpecRunner } from '../spec-runner';

const mebibyte = 1024 ** 2;
/** Each sandbox counts with 224 MB. With 64 MB for the generic ones, three may run. */
const small = { SANDBOX_MEMORY_MB: '192', SANDBOX_POOL_MB: '800', SANDBOX_PROCESSES: '64' };

/** Takes all the memory that it gets, and keeps it. */
const hostile = `const kept = [];
  module.exports = () => new Promise(() => {
    setInterval(() => { try { for (let n = 0; n < 20 && kept.length < 340; n += 1) kept.push(Buffer.alloc(400_000, 1)) } catch {} }, 5);
  })`;
/** Keeps this many megabytes from run to run. */
const keeping = (megabytes: number): string =>
  `let calls = 0; const kept = Buffer.alloc(${megabytes} * 1024 * 1024, 1);
   module.exports = () => ({ calls: (calls += 1), kept: kept.length })`;

const running = ({ pool }: SpecRunner['ctx']): number =>
  pool.shares['running_sandboxes']?.state.held ?? -1;
const ended = (runner: SpecRunner, reason: string): number | undefined =>
  new Map<string, number>(runner.ctx.pool.ended).get(reason);

it('runs that take all the memory they get do not pass the cap of the pool together', () =>
  withRunner({ ...small, SANDBOX_QUEUE_WAIT_MS: '15000' }, async ({ run, ctx }) => {
    const { pool } = ctx;
    const most = { used: 0, reserved: 0, running: 0 };
    const looking = setInterval(() => {
      const { privateBytes, reservedBytes } = pool.memory;
      most.used = Math.max(most.used, privateBytes);
      most.reserved = Math.max(most.reserved, reservedBytes);
      most.running = Math.max(most.running, running(ctx));
    }, 5);
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        run(hostile, { tenantId: `tenant ${n % 4}`, codeHash: String(n), timeoutMs: 3_000 }),
      ),
    );
    clearInterval(looking);
    const { capBytes } = pool.memory;
    expect(capBytes).toBe(800 * mebibyte);
    expect(most.reserved).toBeLessThanOrEqual(capBytes);
    expect(most.used).toBeLessThanOrEqual(capBytes);
    // They did take it, several at the same time.
    expect(most.running).toBe(3);
    expect(most.used).toBeGreaterThan(100 * mebibyte);
    expect(outcomes.filter(({ kind }) => kind !== 'no_capacity').length).toBeGreaterThanOrEqual(3);
    await waitFor(() => pool.memory.reservedBytes === 64 * mebibyte);
    expect(await run(keeping(1), { tenantId: 'next' })).toMatchObject({ kind: 'returned' });
  }));

it('a frozen process counts with the memory that it has, so that many idle ones fit under the cap', () =>
  withRunner(small, async ({ run, ctx }) => {
    const { pool } = ctx;
    for (let n = 0; n < 12; n += 1) {
      const outcome = await run(keeping(1), { tenantId: `tenant ${n % 4}`, codeHash: String(n) });
      expect(outcome).toMatchObject({ kind: 'returned' });
    }
    await waitFor(() => pool.counts.idle === 12);
    await waitFor(() => running(ctx) === 0);
    const { privateBytes, reservedBytes } = pool.memory;
    expect(reservedBytes).toBeLessThan(600 * mebibyte);
    expect(reservedBytes).toBeGreaterThanOrEqual(privateBytes);
  }));

it('a run that needs memory ends idle processes of the largest holder, those unused for longest first', () =>
  withRunner({ ...small, SANDBOX_POOL_MB: '700' }, async (runner) => {
    const { ctx } = runner;
    const { pool } = ctx;
    const large = keeping(75);
    const calls = async (tenantId: string, codeHash: string): Promise<unknown> => {
      const outcome = await runner.run(large, { tenantId, codeHash });
      return outcome.kind === 'returned' ? (outcome.value as { calls: number }).calls : outcome;
    };
    const frozen = async (): Promise<void> => {
      await waitFor(() => running(ctx) === 0);
    };
    await calls('small', '1');
    await frozen();
    for (const key of ['1', '2', '3', '4']) {
      await calls('large', key);
      await frozen();
    }
    expect(pool.counts.idle).toBe(5);
    expect(await calls('large', '1')).toBe(2);
    await frozen();
    expect(await calls('newcomer', '1')).toBe(1);
    await waitFor(() => ended(runner, 'evicted') !== 0);
    expect(await calls('small', '1')).toBe(2);
    expect(await calls('large', '1')).toBe(3);
    await frozen();
    expect(await calls('large', '2')).toBe(1);
  }));

it('a frozen process is woken only when the pool has the memory for it at its limit', () =>
  withRunner({ ...small, SANDBOX_POOL_MB: '320' }, async (runner) => {
    const { ctx } = runner;
    const { pool } = ctx;
    expect(await runner.run(keeping(1), { tenantId: 'a' })).toMatchObject({ kind: 'returned' });
    await waitFor(() => running(ctx) === 0);
    const stop = new AbortController();
    const busy = runner.run(hostile, { tenantId: 'b' }, { signal: stop.signal });
    await waitFor(() => running(ctx) === 1);
    const waits = runner.run(keeping(1), { tenantId: 'a' });
    expect(await waits).toEqual({ kind: 'no_capacity' });
    stop.abort();
    await busy;
    expect(await runner.run(keeping(1), { tenantId: 'a' })).toMatchObject({ kind: 'returned' });
    expect(pool.memory.reservedBytes).toBeLessThanOrEqual(320 * mebibyte);
  }));
