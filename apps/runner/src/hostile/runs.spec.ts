import type { RunOutcome, RunRequest, Runtime } from '@glovebox/sandbox';
import {
  collectLines,
  fewAtOnce,
  runHoweverBusy,
  specLevels,
  specRuntimes,
  startSpecRunner,
  type SpecRunner,
} from '../spec-runner';
import { hostileRuns, type HostileRun } from './runs.cases';

/**
 * Hostile code in a whole runner. Each run has its outcome, and leaves the runner and the process of
 * another tenant as they were, also while others like it are under way.
 */
const atOnce = 4;
/** Production's level on each runtime. A higher one takes more away, for which one runtime will do. */
const setups = specLevels.flatMap((level) =>
  specRuntimes
    .filter((_, nth) => level === 2 || nth === specRuntimes.length - 1)
    .map((runtime) => ({ level, runtime })),
);

describe.each(setups)('a runner at level $level, with code on $runtime,', ({ level, runtime }) => {
  let runner: SpecRunner;

  beforeAll(async () => {
    runner = await startSpecRunner({
      SANDBOX_LEVEL: String(level),
      // A busy machine delays a run, and does not refuse it.
      SANDBOX_QUEUE_WAIT_MS: '20000',
    });
  });
  afterAll(() => runner.stop());

  async function callNeighbour(): Promise<void> {
    const code = `module.exports = ({ args }) => {
      const known = []; for (const name in {}) known.push(name);
      return { args, known, later: typeof setImmediate, text: JSON.stringify([1]) } }`;
    const args = { list: [1, { a: 'b' }], text: 'é' };
    expect(await run(code, { tenantId: 'neighbour', args })).toEqual({
      kind: 'returned',
      value: { args, known: [], later: 'function', text: '[1]' },
    });
  }

  const run = (code: string, more: Partial<RunRequest> = {}): Promise<RunOutcome> =>
    runner.run(code, { runtime, ...more });

  async function check({ code, expected, timeoutMs }: HostileRun): Promise<void> {
    const { lines, onLog } = collectLines();
    const more = { runtime, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    expect(await runHoweverBusy(runner, code, more, { onLog })).toMatchObject(
      outcomeOf(expected, runtime),
    );
    expect(lines.length).toBeLessThanOrEqual(201);
    await callNeighbour();
    expect(await run('module.exports = () => ({ fine: true })')).toEqual({
      kind: 'returned',
      value: { fine: true },
    });
  }

  describe('hostile code that', () => {
    let checks: readonly Promise<void>[];
    beforeAll(() => {
      checks = fewAtOnce(atOnce, hostileRuns, check);
    });

    it.each(hostileRuns.map(({ name }, n): [string, number] => [name, n]))(
      '%s',
      (_, n) => checks[n],
    );
  });

  it('code finds nothing useful behind the global object', async () => {
    const code = `module.exports = () => {
      const p = new Function('return process')();
      const tried = {};
      for (const name of ['binding', '_linkedBinding', 'dlopen', 'kill', 'exit', 'getBuiltinModule']) {
        try { p[name]('fs'); tried[name] = 'done' } catch { tried[name] = 'refused' }
      }
      const { argv, env, execArgv, mainModule } = p;
      return { tried, env: { ...env }, argv: argv.length, execArgv, main: String(mainModule),
        require: typeof globalThis.require, fs: typeof globalThis.fs, module: typeof globalThis.module } }`;
    const names = ['binding', '_linkedBinding', 'dlopen', 'kill', 'exit', 'getBuiltinModule'];
    expect(await run(code)).toEqual({
      kind: 'returned',
      value: {
        tried: Object.fromEntries(names.map((name) => [name, 'refused'])),
        ...{ env: {}, argv: 1, execArgv: [], main: 'undefined' },
        ...{ require: 'undefined', fs: 'undefined', module: 'undefined' },
      },
    });
  });

  it('nothing that a run leaves in its process is seen by another reactor or another tenant', async () => {
    const marker = ['mark', 'of', level, runtime].join('-');
    const leave = `const all = [];
      module.exports = ({ args }) => {
        if (!args.look) {
          globalThis.left = args.marker; Object.prototype.left = args.marker;
          process.env.LEFT = args.marker; require('crypto').left = args.marker;
          for (let n = 0; n < 64; n += 1) all.push(Buffer.alloc(1 << 16, args.marker));
          all.length = 0;
        }
        ${look}
      }`;
    const more = { args: { marker }, codeHash: `leaves ${marker}` };
    const seen = { global: marker, prototype: marker, env: marker, module: marker };
    expect(await run(leave, more)).toMatchObject({ value: seen });
    // The same reactor finds it again: the places are those where something would be seen.
    expect(await run(leave, { ...more, args: { look: true } })).toMatchObject({ value: seen });

    const other = `module.exports = ({ args }) => { ${look} }`;
    // In another form, so that the marker is nowhere in the stranger's own memory.
    const args = { codes: [...Buffer.from(marker)].map((code) => code + 1) };
    for (const stranger of [
      { tenantId: 'another tenant' },
      { resourceId: 'another reactor' },
      { applicationId: 'another application' },
      { codeHash: `leaves ${marker}`, isolation: 'run' as const },
    ]) {
      for (let repeated = 0; repeated < 3; repeated += 1) {
        expect(await run(other, { args, ...stranger })).toEqual({
          kind: 'returned',
          value: { memory: false },
        });
      }
    }
  });
});

/** Looks for what another run left: in globals, prototypes, modules, and memory that is not zeroed. */
const look = `
  let memory = false;
  const needle = Buffer.from((args.codes || []).map((code) => code - 1));
  for (let n = 0; n < 64 && args.codes; n += 1) if (Buffer.allocUnsafeSlow(1 << 20).includes(needle)) memory = true;
  const own = (object) => Object.prototype.hasOwnProperty.call(object, 'left') ? object.left : undefined;
  return { global: own(globalThis), prototype: own(Object.prototype), env: process.env.LEFT, module: own(require('crypto')), memory };`;

const outcomeOf = (expected: HostileRun['expected'], runtime: Runtime): object =>
  typeof expected === 'function' ? expected(runtime) : expected;
