import { writeValue } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import { plainRun, specLevels, specRuntimes, withRunner } from '../spec-runner';
import { besidesDataMb, memoryOf } from './memory';

const memoryMb = 192;
const mebibyte = 1024 ** 2;

const buffers = 'try { kept.push(Buffer.alloc(400_000, 1)) } catch { failed += 1 }';
const functions =
  'for (let n = 0; n < 99; n += 1) kept.push(new Function(`return ${kept.length}`))';
const lists = 'kept.push(new Array(1_000).fill(1.5))';

/** Takes all the memory that it gets, and answers once it gets no more. Some ways end the process instead. */
const taking = (...ways: readonly string[]): string => `const kept = []; let failed = 0;
  module.exports = () => new Promise((resolve) => {
    const takeMore = () => { ${ways.join('; ')}; failed < 200 ? setImmediate(takeMore) : resolve(); };
    takeMore();
  })`;

describe.each(specRuntimes)('code on %s', (runtime) => {
  it.each([
    ['buffers', taking(buffers)],
    ['lists', taking(lists)],
    ['functions, then buffers', taking(functions, buffers)],
  ])('gets about its memory of the machine and never more, by %s', async (_, code) => {
    await withRunner({ SANDBOX_MEMORY_MB: String(memoryMb) }, async ({ ctx }) => {
      const sandbox = ctx.startSandbox(runtime);
      await sandbox.ready;
      let most = 0;
      const looking = setInterval(() => {
        const { pid } = sandbox;
        most = Math.max(most, pid === undefined ? 0 : (memoryOf(pid)?.privateBytes ?? 0));
      }, 2);
      const input = Buffer.from(writeValue({ args: {}, configuration: {} }));
      const order = { ...plainRun, network: true, runtime, codeHash: '', input, timeoutMs: 60_000 };
      const hooks = { onCall: () => Promise.reject(new Error('none')), onLog: () => undefined };
      await sandbox.execute(order, Buffer.from(code), hooks);
      clearInterval(looking);
      sandbox.kill('the spec is done with it');
      await sandbox.exited;
      expect(most).toBeLessThan((memoryMb + besidesDataMb) * mebibyte);
      expect(most).toBeGreaterThan((memoryMb / 2) * mebibyte);
    });
  });

  it.each(specLevels)(
    'that takes too much at level %d ends its process in a known way, and its limit is told',
    async (level) => {
      const env = { SANDBOX_MEMORY_MB: String(memoryMb), SANDBOX_LEVEL: String(level) };
      await withRunner(env, async ({ run }) => {
        for (const way of [lists, "kept.push({ text: 'x'.repeat(9) + kept.length })"]) {
          const code = `module.exports = () => { for (const kept = [];;) ${way} }`;
          expect(await run(code, { runtime, timeoutMs: 25_000 })).toMatchObject({
            kind: 'died',
            reason: expect.stringMatching(
              level === 3 ? /^exit 13[2349]$/ : /^SIG(ABRT|TRAP|ILL)$/,
            ) as string,
            memory: { runtime, megabytes: memoryMb },
          });
        }
      });
    },
  );
});

it('code that its caller ends is not told to have run out of memory', async () => {
  await withRunner({}, async ({ run, ctx }) => {
    const leaving = new AbortController();
    const code = 'module.exports = () => new Promise(() => {})';
    const outcome = run(code, {}, { signal: leaving.signal });
    await waitFor(() => ctx.pool.counts.loaded === 1 && ctx.pool.counts.waiting === 0);
    leaving.abort();
    expect(await outcome).toEqual({ kind: 'died', reason: 'cancelled' });
  });
});
