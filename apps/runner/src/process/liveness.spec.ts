import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeValue, type Runtime } from '@glovebox/sandbox';
import { plainRun, specRuntimes, withRunner, type SpecRunner } from '../spec-runner';

const limitMs = 5_000;

/** Runs code once in a sandbox beside the pool, and waits until that has come to rest. */
async function restAfter(
  runner: SpecRunner,
  runtime: Runtime,
  { code, args = {} }: { code: string; args?: object },
) {
  const process = runner.ctx.startSandbox(runtime);
  await process.ready;
  const input = Buffer.from(writeValue({ args, configuration: {} }));
  const order = { ...plainRun, network: true, runtime, svc: true, codeHash: code, input };
  const hooks = { onCall: () => new Promise<never>(() => undefined), onLog: () => undefined };
  const { kind } = await process.execute(order, Buffer.from(code), hooks);
  const restCameWithResult = process.isAtRest;
  const isInTime = await process.comesToRest(limitMs);
  const { isQuiet, hasLeftovers } = process;
  process.kill('the spec is done with it');
  await process.exited;
  return { kind, isInTime, isQuiet, hasLeftovers, restCameWithResult };
}

const after = (statement: string): string => `module.exports = () => { ${statement}; return {} }`;

describe.each(specRuntimes)('on %s, a process', (runtime) => {
  it.each([
    [
      'a run that leaves nothing',
      after(''),
      { isQuiet: true, hasLeftovers: false, restCameWithResult: true },
    ],
    [
      'a large result',
      "module.exports = () => ({ large: 'x'.repeat(1000000) })",
      { isQuiet: true, hasLeftovers: false, restCameWithResult: true },
    ],
    ['a timer', after('setTimeout(() => {}, 60000)'), { isQuiet: false, hasLeftovers: true }],
    [
      'a timer that a microtask sets behind the result',
      after(
        'Promise.resolve().then(() => {}).then(() => {}).then(() => {}).then(() => setTimeout(() => {}, 60000))',
      ),
      { isQuiet: false, hasLeftovers: true },
    ],
    [
      'a timer without a reference',
      after('setTimeout(() => {}, 60000).unref()'),
      { isQuiet: false, hasLeftovers: false, restCameWithResult: true },
    ],
    [
      'a call that is open',
      'module.exports = ({ svc }) => { void svc.tokenize("x").catch(() => 0); return {} }',
      { isQuiet: false, hasLeftovers: false },
    ],
  ])('tells of %s', async (_, code, rest) => {
    await withRunner({ RUNNER_RUNTIMES: runtime }, async (runner) => {
      const expected = { kind: 'returned', isInTime: true, ...rest };
      expect(await restAfter(runner, runtime, { code })).toMatchObject(expected);
    });
  });

  it('is asked before the next run if code has used the network', async () => {
    const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const code = `module.exports = ({ args }) => new Promise((resolve, reject) =>
      require('http').get(args.url, (answer) => answer.resume().on('end', () => resolve({}))).on('error', reject))`;
    await withRunner({ EGRESS_ALLOW: '127.0.0.1:*', RUNNER_RUNTIMES: runtime }, async (runner) => {
      expect(await restAfter(runner, runtime, { code, args: { url } })).toMatchObject({
        kind: 'returned',
        isInTime: true,
        isQuiet: false,
      });
    });
    server.close();
    server.closeAllConnections();
  });

  it('that goes on in microtasks behind its result times out, and the next run has another', async () => {
    const code = `module.exports = ({ args }) => {
      if (args.spin) void (async () => { for (;;) await null })();
      return { pid: process.pid };
    }`;
    await withRunner({ RUNNER_RUNTIMES: runtime }, async (runner) => {
      const spinning = { runtime, args: { spin: true }, timeoutMs: 1_000 };
      expect(await runner.run(code, spinning)).toMatchObject({ kind: 'timed_out' });
      expect(await runner.run(code, { runtime })).toMatchObject({ kind: 'returned' });
    });
  });
});
