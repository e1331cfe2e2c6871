import { isDeepStrictEqual } from 'node:util';
import type { RunOrder, UnreadOutcome } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import { plainRun, withRunner, type SpecRunner } from '../spec-runner';

const hanging = 'module.exports = () => new Promise(() => {})';
const looping = 'for (;;);';
const inTimeMs = 100;

interface Stage {
  readonly env?: Readonly<Record<string, string>>;
  readonly code?: string;
  /** Makes other runs that keep this one in its stage. */
  readonly before?: (runner: SpecRunner) => Promise<unknown>;
  readonly isReached: (runner: SpecRunner) => boolean;
  readonly codeArrives?: boolean;
}

const busy = async (runner: SpecRunner): Promise<void> => {
  void ask(runner, { code: hanging, codeHash: 'busy', signal: new AbortController().signal });
  await waitFor(() => runner.ctx.pool.counts.loaded === 1 && runner.ctx.pool.counts.waiting === 0);
};
const isLoaded = ({ ctx: { pool } }: SpecRunner): boolean =>
  pool.counts.loaded === 1 && pool.counts.waiting === 0;

const stages: Readonly<Record<string, Stage>> = {
  'it waits for a place': {
    env: { SANDBOX_PROCESSES: '1', SANDBOX_QUEUE_WAIT_MS: '60000' },
    before: busy,
    isReached: ({ ctx: { pool } }) => pool.counts.waiting === 1,
  },
  'it waits for its code': { codeArrives: false, isReached: isLoaded },
  'its code loops while it loads': { code: looping, isReached: isLoaded },
  'its code loops': { code: `module.exports = () => { ${looping} }`, isReached: isLoaded },
  'its code waits': { code: hanging, isReached: isLoaded },
};

describe.each(Object.entries(stages))('a run whose caller leaves while %s', (name, stage) => {
  it('is over within 100 ms, its process is dead, and its place is free', () =>
    withRunner(stage.env ?? {}, async (runner) => {
      await stage.before?.(runner);
      const before = held(runner);
      let fastest = Infinity;
      // Other work of the machine may delay one end, not each of them.
      for (let attempt = 0; attempt < 20 && fastest >= inTimeMs; attempt += 1) {
        const caller = new AbortController();
        const outcome = ask(runner, { ...stage, codeHash: name, signal: caller.signal });
        await waitFor(() => stage.isReached(runner), { intervalMs: 1 });
        const leftAt = performance.now();
        caller.abort();
        expect(await outcome).toMatchObject({ kind: 'died', reason: 'cancelled' });
        await waitFor(() => isDeepStrictEqual(held(runner), before), { intervalMs: 1 });
        fastest = Math.min(fastest, performance.now() - leftAt);
        await waitFor(() => runner.ctx.pool.counts.generic === 2);
      }
      expect(fastest).toBeLessThan(inTimeMs);
    }));
});

it('a run whose caller leaves while its process is being started is over at once, and the process stays generic', () =>
  withRunner({}, async (runner) => {
    const { pool } = runner.ctx;
    let fastest = Infinity;
    for (let attempt = 0; attempt < 20 && fastest >= inTimeMs; attempt += 1) {
      const caller = new AbortController();
      // One gets the generic process that is ready. The others are started.
      const outcomes = ['1', '2', '3'].map((codeHash) =>
        ask(runner, { codeHash, signal: caller.signal }),
      );
      // They may have been started between two looks: then this time shows nothing.
      const look = { intervalMs: 1, timeoutMs: 2_000 };
      const areStarting = await waitFor(() => pool.counts.waiting === 2, look).catch(() => false);
      if (areStarting) expect(pool.counts.loaded).toBe(3);
      const leftAt = performance.now();
      caller.abort();
      for (const outcome of await Promise.all(outcomes)) {
        expect(outcome).toMatchObject({ kind: 'died', reason: 'cancelled' });
      }
      await waitFor(() => pool.counts.loaded === 0, { intervalMs: 1 });
      if (areStarting) fastest = Math.min(fastest, performance.now() - leftAt);
      await waitFor(() => held(runner).alive === 0 && pool.counts.generic === 2);
    }
    expect(fastest).toBeLessThan(inTimeMs);
  }));

/** The right to run is given back when the process has ended. */
function held({ ctx: { pool } }: SpecRunner): { loaded: number; waiting: number; alive: number } {
  const { loaded, waiting } = pool.counts;
  return { loaded, waiting, alive: pool.shares['running_sandboxes']?.state.held ?? -1 };
}

/** Asks the pool itself, which then also depends on nothing of the connection. */
function ask(
  { ctx }: SpecRunner,
  run: { code?: string; codeHash: string; codeArrives?: boolean; signal: AbortSignal },
): Promise<UnreadOutcome> {
  const { args, configuration, ...plain } = plainRun;
  const input = Buffer.from(JSON.stringify({ args, configuration }));
  const order: RunOrder = {
    ...plain,
    network: true,
    input,
    codeHash: run.codeHash,
    timeoutMs: 60_000,
  };
  return ctx.pool.run({
    ...{ order, signal: run.signal },
    fetchCode: () =>
      run.codeArrives === false
        ? new Promise(() => undefined)
        : Promise.resolve(Buffer.from(run.code ?? hanging)),
    hooks: { onCall: () => Promise.reject(new Error('none')), onLog: () => undefined },
  });
}
