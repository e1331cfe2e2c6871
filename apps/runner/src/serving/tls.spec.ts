import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { createRunnerClient, runnerTls, tlsKeyOf, type RunnerClient } from '@glovebox/sandbox';
import { freePort, waitFor } from '@glovebox/testing';
import {
  collectLines,
  plainRun,
  silent,
  specSecret,
  startSpecRunner,
  type SpecRunner,
} from '../spec-runner';

const otherSecret = 'another secret that is as long as the first one';

const log: string[] = [];
const logger = { ...silent, warn: (...line: unknown[]) => void log.push(JSON.stringify(line)) };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  log.length = 0;
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<SpecRunner> {
  const over = { RUNNER_LISTEN: 'tcp://127.0.0.1:0', ...env };
  const runner = await startSpecRunner(over, undefined, logger);
  closers.push(() => runner.stop());
  return runner;
}

function caller(url: string, secret = specSecret): RunnerClient {
  const client = createRunnerClient({ urls: [url], secret });
  closers.push(() => client.close());
  return client;
}

describe('a runner over TCP', () => {
  it('takes runs, their calls of svc and large values, and gives lines of the log', async () => {
    const runner = await start();
    const large = 'x'.repeat(10 * 1024 * 1024);
    const { lines, onLog } = collectLines();
    const outcome = await runner.run(
      `module.exports = async ({ args, svc }) => {
        console.log('a line');
        return { args, answer: await svc.tokenize('asked') };
      }`,
      { args: { large }, svc: true, resultBytesMax: 32 * 1024 * 1024 },
      { onCall: () => Promise.resolve({ large: 'y' }), onLog },
    );
    expect(outcome).toMatchObject({
      kind: 'returned',
      value: { args: { large }, answer: { large: 'y' } },
    });
    expect(lines).toEqual([expect.objectContaining({ text: 'a line' })]);
    expect(log).toEqual([]);
  });

  it('ends a run that nobody waits for', async () => {
    const runner = await start();
    const abort = new AbortController();
    const outcome = await runner.run(
      `module.exports = () => { console.log('on'); return new Promise(() => undefined) }`,
      {},
      { onLog: () => abort.abort(), signal: abort.signal },
    );
    expect(outcome).toEqual({ kind: 'died', reason: 'cancelled' });
    await waitFor(() => runner.ctx.pool.counts.loaded === 0);
  });

  it('lets runs finish when it stops, and is found again when it is back', async () => {
    const RUNNER_LISTEN = `tcp://127.0.0.1:${await freePort()}`;
    const first = await startSpecRunner({ RUNNER_LISTEN });
    const client = caller(first.url);
    const hooks = { onCall: () => Promise.reject(new Error('none')) };
    const wait = `module.exports = () => { console.log('on'); return new Promise((resolve) => setTimeout(resolve, 300, {})) }`;
    let stopped: Promise<void> | undefined;
    const onLog = (): void => void (stopped ??= first.stop());
    expect(
      await client.run({ ...plainRun, code: wait, codeHash: 'w' }, { ...hooks, onLog }),
    ).toMatchObject({ kind: 'returned', value: {} });
    await stopped;
    expect(await client.ready()).toBe(false);
    await start({ RUNNER_LISTEN });
    await waitFor(() => client.ready());
  });

  it('carries nothing in the clear', async () => {
    const runner = await start();
    const chunks: Buffer[] = [];
    const relay = createServer((near) => {
      const far = connect(Number(new URL(runner.url).port), '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
        from.pipe(to);
        from.on('close', () => to.destroy());
      }
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    closers.push(() => relay.close());
    const client = caller(`tcp://127.0.0.1:${(relay.address() as AddressInfo).port}`);
    const canary = 'a canary of 4242 4242 4242 4242';
    const code = `module.exports = async ({ args, svc }) => { console.log(args.canary); return svc.tokenize(args) }`;
    const outcome = await client.run(
      { ...plainRun, code, codeHash: 'canary', args: { canary }, svc: true },
      { onCall: (_method, params) => Promise.resolve({ params }) },
    );
    expect(outcome).toMatchObject({ kind: 'returned', value: { params: [{ canary }] } });
    await client.close();
    const wire = Buffer.concat(chunks);
    expect(wire.length).toBeGreaterThan(1_000);
    const inBase64 = [0, 1, 2].map((at) => Buffer.from(canary.slice(at)).toString('base64'));
    for (const form of [canary, canary.slice(0, 12), 'tokenize', specSecret]) {
      expect(wire.includes(form)).toBe(false);
    }
    for (const form of inBase64) expect(wire.includes(form.slice(0, 20))).toBe(false);
  });
});

describe('a secret that is exchanged', () => {
  it('lets the callers of both secrets in while the runner has both', async () => {
    const runner = await start({ RUNNER_SECRET: `${otherSecret},${specSecret}` });
    expect(await caller(runner.url, specSecret).ready()).toBe(true);
    expect(await caller(runner.url, otherSecret).ready()).toBe(true);
    expect(await caller(runner.url, `${otherSecret},${specSecret}`).ready()).toBe(true);
  });

  it('does so on a Unix socket as well', async () => {
    const runner = await startSpecRunner({ RUNNER_SECRET: `${otherSecret},${specSecret}` });
    closers.push(() => runner.stop());
    expect(await caller(runner.url, specSecret).ready()).toBe(true);
    expect(await caller(runner.url, otherSecret).ready()).toBe(true);
    expect(await caller(runner.url, 'neither').ready()).toBe(false);
  });

  it('lets the callers of the old one in no more once the runner has the new one alone', async () => {
    const runner = await start({ RUNNER_SECRET: otherSecret });
    expect(await caller(runner.url, specSecret).ready()).toBe(false);
    expect(await caller(runner.url, `${otherSecret},${specSecret}`).ready()).toBe(true);
  });

  it.each([
    ['too short for a network', 'x'.repeat(31)],
    ['too short beside a long one', `${specSecret},short`],
    ['three', [specSecret, otherSecret, `${otherSecret}!`].join()],
    ['empty behind the comma', `${specSecret},`],
  ])('is refused at the start: %s', async (_case, RUNNER_SECRET) => {
    await expect(start({ RUNNER_SECRET })).rejects.toThrow('RUNNER_SECRET must');
    expect(() => caller('tcp://127.0.0.1:1', RUNNER_SECRET)).toThrow('RUNNER_SECRET must');
  });
});

describe('a stranger on the network', () => {
  const key = tlsKeyOf(specSecret);
  const wrongKey = { ...key, psk: Buffer.alloc(32, 7) };

  /** Resolves with what the stranger got when the runner has closed the connection. */
  async function knock(url: string, options: ConnectionOptions): Promise<string> {
    const { port } = new URL(url);
    const socket = connectTls({
      ...runnerTls,
      host: '127.0.0.1',
      port: Number(port),
      rejectUnauthorized: false,
      ...options,
    });
    let got = 'nothing';
    socket.on('secureConnect', () => (got = 'a connection')).on('error', () => undefined);
    await closed(socket);
    return got;
  }

  it.each<[string, ConnectionOptions, string]>([
    ['with another secret', { pskCallback: () => tlsKeyOf(otherSecret) }, 'SIGNATURE'],
    ['with a wrong key under the right name', { pskCallback: () => wrongKey }, 'BINDER'],
    ['without a key', {}, 'SIGNATURE'],
    [
      'that speaks TLS 1.2',
      { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ciphers: 'PSK', pskCallback: () => key },
      'PROTOCOL',
    ],
  ])('%s is refused, and is one line of the log', async (_case, options, reason) => {
    const runner = await start();
    const startedAt = performance.now();
    for (let i = 0; i < 3; i += 1) expect(await knock(runner.url, options)).toBe('nothing');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(log).toEqual([expect.stringContaining(reason)]);
    expect(log.join()).not.toContain(specSecret);
    expect(log.join()).not.toContain(key.psk.toString('hex'));
    expect(await runner.client.ready()).toBe(true);
  });

  it('that speaks without TLS is refused, and is one line of the log', async () => {
    const runner = await start();
    const hello = JSON.stringify({ version: 1, secret: specSecret });
    for (const said of ['GET / HTTP/1.1\r\n\r\n', `\x2f\0\0\0\x01${hello}`]) {
      const socket = connect(Number(new URL(runner.url).port), '127.0.0.1');
      socket.on('error', () => undefined).resume();
      socket.write(said);
      await closed(socket);
    }
    expect(log).toEqual([
      expect.stringContaining('HTTP_REQUEST'),
      expect.stringContaining('WRONG_VERSION'),
    ]);
    expect(log.join()).not.toContain(specSecret);
  });

  it('cannot come back with a ticket of a connection that was accepted', async () => {
    const runner = await start();
    const { port } = new URL(runner.url);
    const accepted = connectTls({
      ...runnerTls,
      host: '127.0.0.1',
      port: Number(port),
      pskCallback: () => key,
    });
    accepted.on('error', () => undefined).resume();
    // The runner hangs up on a connection that says nothing, which is long after the ticket.
    const [[session]] = (await Promise.all([
      once(accepted, 'session'),
      once(accepted, 'secureConnect'),
    ])) as [[Buffer], unknown];
    accepted.destroy();
    expect(await knock(runner.url, { session })).toBe('nothing');
  });

  it('cannot keep others out with connections that say nothing or never finish', async () => {
    const runner = await start();
    const port = Number(new URL(runner.url).port);
    const beginning = await clientHello();
    const strangers = Array.from({ length: 1_000 }, (_, i) => {
      const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
      let at = 0;
      const drip = setInterval(() => socket.write(beginning.subarray(at, (at += 1))), 100);
      if (i % 10 > 0) clearInterval(drip);
      socket.once('close', () => clearInterval(drip));
      return socket.resume();
    });
    closers.push(() => strangers.forEach((socket) => socket.destroy()));
    await Promise.all(strangers.map((socket) => once(socket, 'connect')));
    const client = caller(runner.url);
    await waitFor(() => client.ready());
    await waitFor(() => strangers.filter(({ destroyed }) => !destroyed).length <= 256);
    await waitFor(() => strangers.every(({ destroyed }) => destroyed), { timeoutMs: 10_000 });
    expect(await runner.client.ready()).toBe(true);
    expect(log.length).toBeLessThanOrEqual(3);
  });

  it('cannot have a beginning of any size kept', async () => {
    const runner = await start();
    const socket = connect(Number(new URL(runner.url).port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    const isClosed = closed(socket);
    // A handshake message of 16 MiB, in records of 16 KiB.
    const part = Buffer.alloc(16_384 + 5, 1);
    Buffer.from([0x16, 3, 1, 0x40, 0]).copy(part);
    const first = Buffer.from(part);
    Buffer.from([1, 0xff, 0xff, 0xff, 3, 3]).copy(first, 5);
    socket.write(first);
    for (let i = 0; i < 20; i += 1) socket.write(part);
    await isClosed;
    expect(log).toEqual([expect.stringContaining('EXCESSIVE_MESSAGE_SIZE')]);
  });

  it('is not let in by a handshake that ends after the runner began to stop', async () => {
    const runner = await startSpecRunner({ RUNNER_LISTEN: 'tcp://127.0.0.1:0' });
    const { port } = new URL(runner.url);
    const held: Buffer[] = [];
    let release: (() => void) | undefined;
    const relay = createServer((near) => {
      const far = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      near.on('error', () => undefined).on('close', () => far.destroy());
      far.on('close', () => near.destroy()).on('data', (chunk: Buffer) => near.write(chunk));
      near.once('data', (chunk: Buffer) => {
        far.write(chunk);
        near.on('data', (last: Buffer) => held.push(last));
        release = () => {
          far.write(Buffer.concat(held));
          near.pipe(far);
        };
      });
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const client = caller(`tcp://127.0.0.1:${(relay.address() as AddressInfo).port}`);
    const isReady = client.ready();
    // The end of the handshake and HELLO.
    await waitFor(() => Buffer.concat(held).length > 100);
    const stopped = runner.stop();
    release?.();
    expect(await isReady).toBe(false);
    await stopped;
    relay.close();
  });
});

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** The first bytes of a proper handshake. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = caller(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
  void client.ready();
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  server.close();
  return bytes;
}
