import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Server } from 'node:net';
import type { RunOutcome } from '@glovebox/sandbox';
import {
  createAuthority,
  freePort,
  startDnsServer,
  waitFor,
  type DnsServer,
} from '@glovebox/testing';
import { silent, specRuntimes, startSpecRunner, type SpecRunner } from './spec-runner';

const authority = createAuthority();
const secure = authority.issue('DNS:service.test');
const answer: http.RequestListener = ({ url }, res) => void (url === '/' && res.end('ok'));
let runner: SpecRunner;
let dns: DnsServer;
let server: Server;
let port = 0;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const chunk = Buffer.alloc(256 * 1024);
  server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    const flood = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.once('data', (data) => {
      if (String(data) === 'flood') return (void flood(), void socket.on('drain', flood));
      if (String(data) !== 'sink') socket.write('answer');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  dns = await startDnsServer(({ name }) =>
    name === 'service.test' ? { addresses: ['127.0.0.1'] } : 'no such name',
  );
  runner = await startSpecRunner(
    { EGRESS_ALLOW: '127.0.0.1:*', EGRESS_DNS: dns.address },
    undefined,
    { ...silent, info: (line) => lines.push(line as Record<string, unknown>) },
  );
});
afterAll(async () => {
  await runner.stop();
  await dns.close();
  server.close();
});
beforeEach(() => (lines.length = 0));

const records = () => lines.filter((line) => 'bytesSent' in line);

const run = (code: string, more: Parameters<SpecRunner['run']>[1] = {}): Promise<RunOutcome> =>
  runner.run(`const net = require('net'); module.exports = async ({ args }) => { ${code} }`, {
    args: { port },
    ...more,
  });

describe.each(specRuntimes)('a connection of code on %s', (runtime) => {
  it('has a line in the log when it ends, with what it carried and how it ended', async () => {
    const closed = await freePort();
    const code = `
      const end = (socket) => new Promise((resolve) => socket.on('close', resolve).on('error', () => {}));
      const fine = net.connect(args.port, 'service.test', () => fine.write('a canary')).once('data', () => fine.end());
      await end(fine);
      await end(net.connect(args.closed, 'service.test'));
      await end(net.connect(80, '10.0.0.1'));
      await end(net.connect(80, 'unknown.test'));
      await end(net.connect(args.ops, '127.0.0.1'));
      await new Promise((resolve) => net.connect(args.port, 'service.test', resolve));
      return {}`;
    const ops = runner.ctx.config.opsPort;
    const more = {
      runtime,
      args: { port, closed, ops },
      tenantId: 'a tenant',
      resourceId: 'a reactor',
    };
    expect(await run(code, more)).toMatchObject({ kind: 'returned' });
    await waitFor(() => records().length === 6);
    const line = (host: string, to: number, outcome: string, bytes = [0, 0]) => ({
      ...{ tenantId: 'a tenant', resourceId: 'a reactor', host, port: to, outcome },
      ...{ bytesSent: bytes[0], bytesReceived: bytes[1], ms: expect.any(Number) as number },
    });
    expect(records()).toEqual([
      line('service.test', port, 'closed', [8, 6]),
      line('service.test', closed, 'ECONNREFUSED'),
      line('10.0.0.1', 80, 'EGRESS_REFUSED'),
      line('unknown.test', 80, 'ENOTFOUND'),
      // EGRESS_ALLOW names it, and it is ours.
      line('127.0.0.1', ops, 'EGRESS_REFUSED'),
      line('service.test', port, 'ECANCELED'),
    ]);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  it.each(['http', 'https'] as const)(
    'has ended well when axios got its answer by %s, and not when the run was stopped before',
    async (protocol) => {
      const web =
        protocol === 'http' ? http.createServer(answer) : https.createServer(secure, answer);
      web.listen(0, '127.0.0.1');
      await once(web, 'listening');
      const args = { port: (web.address() as AddressInfo).port, ca: authority.ca, protocol };
      const code = (path: string, end: string) => `
        const agent = new (require(args.protocol).Agent)({ keepAlive: args.keepAlive, ca: args.ca });
        const sent = require('axios').get(args.protocol + '://service.test:' + args.port + '${path}',
          { httpAgent: agent, httpsAgent: agent });
        ${end}`;
      for (const keepAlive of [true, false]) {
        for (let nth = 0; nth < 10; nth += 1) {
          const more = { runtime, args: { ...args, keepAlive } };
          const answered = code('/', 'return { data: (await sent).data }');
          expect(await run(answered, more)).toEqual({ kind: 'returned', value: { data: 'ok' } });
        }
      }
      const late = await run(code('/never', 'await sent'), { runtime, args, timeoutMs: 1_000 });
      expect(late.kind).toBe('timed_out');
      web.closeAllConnections();
      web.close();
      await waitFor(() => records().length === 21);
      const outcomes = records().map(({ outcome }) => outcome);
      expect(outcomes).toEqual([...Array<string>(20).fill('closed'), 'ECANCELED']);
    },
  );

  it('is reset when it has carried 100 MiB, also when the other side sends them', async () => {
    const code = (say: string): string => `
      const socket = net.connect(args.port, 'service.test', () => socket.write('${say}'));
      const error = new Promise((resolve) => socket.on('error', resolve)); socket.on('error', () => {}).resume();
      if ('${say}' === 'sink') { const write = () => { while (!socket.destroyed && socket.write(Buffer.alloc(262144))); socket.once('drain', write); }; socket.once('connect', write); }
      const { code, message } = await error; return { code, message }`;
    for (const say of ['flood', 'sink']) {
      expect(await run(code(say), { runtime, timeoutMs: 40_000 })).toEqual({
        kind: 'returned',
        value: { code: 'EDQUOT', message: 'read EDQUOT' },
      });
    }
    const [flood, sink] = records();
    const over = { asymmetricMatch: (n: unknown) => Number(n) > 1e8 && Number(n) < 1.1e8 };
    expect(flood).toMatchObject({ outcome: 'EDQUOT', bytesReceived: over });
    expect(sink).toMatchObject({ outcome: 'EDQUOT', bytesSent: over });
  });
});

it('a storm of connections leaves 51 lines', async () => {
  const code = `const once = () => new Promise((resolve) => net.connect(args.port, 'service.test', function () { this.destroy(); resolve(); }));
    for (let n = 0; n < 4; n += 1) await Promise.all(Array.from({ length: 30 }, once)); return {}`;
  expect(await run(code, { timeoutMs: 20_000 })).toMatchObject({ kind: 'returned' });
  await waitFor(() => records().length === 51);
  expect(records()[50]).toMatchObject({ tenantId: 'tenant', connections: 70 });
});
