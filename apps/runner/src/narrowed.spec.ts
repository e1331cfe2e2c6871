import { once } from 'node:events';
import https from 'node:https';
import net, { type AddressInfo, type Server } from 'node:net';
import type { RunHooks, RunOutcome, RunRequest } from '@glovebox/sandbox';
import { createAuthority, startDnsServer, type DnsServer } from '@glovebox/testing';
import { specRuntimes, startSpecRunner, type SpecRunner } from './spec-runner';

const authority = createAuthority();
const certificate = authority.issue('DNS:allowed.test', 'DNS:other.test');
const servers: Server[] = [];
const heard = { tls: 0, plain: '' };
const asked: string[] = [];
const ports = { tls: 0, plain: 0 };
let dns: DnsServer;
let runner: SpecRunner;

beforeAll(async () => {
  const listen = async (server: Server): Promise<number> => {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const secure = https.createServer(certificate, (_, res) => res.end('answered'));
  secure.on('connection', () => (heard.tls += 1)).on('tlsClientError', () => undefined);
  ports.tls = await listen(secure);
  ports.plain = await listen(
    net.createServer((socket) =>
      socket
        .on('error', () => undefined)
        .on('data', (data) => {
          heard.plain += String(data);
          socket.write('heard');
        }),
    ),
  );
  dns = await startDnsServer(({ name }) => {
    asked.push(name);
    return { addresses: ['127.0.0.1'] };
  });
  runner = await startSpecRunner({
    EGRESS_ALLOW: `127.0.0.1:${ports.tls},127.0.0.1:${ports.plain}`,
    EGRESS_DNS: dns.address,
  });
});
afterAll(async () => {
  await runner.stop();
  await dns.close();
  for (const server of servers) {
    if (server instanceof https.Server) server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  Object.assign(heard, { tls: 0, plain: '' });
  asked.length = 0;
});

const run = (
  code: string,
  more: Partial<RunRequest> = {},
  hooks: Partial<RunHooks> = {},
): Promise<RunOutcome> =>
  runner.run(
    `const tried = (work) => new Promise(work).then((x) => x, (error) => error.code || error.cause?.code || String(error));
     ${code}`,
    { args: { ...ports, ca: authority.ca }, ...more },
    hooks,
  );

/** Each way out, as code that resolves to what became of it. */
const ways = `
  const ways = (host, { tls: port, plain, ca }) => ({
    net: () => tried((yes, no) => require('net').connect(plain, host, function () { this.end('secret'); yes('open'); }).on('error', no)),
    tls: () => tried((yes, no) => require('tls').connect({ host, port, ca }, () => yes('open')).on('error', no)),
    http: () => tried((yes, no) => require('http').get({ host, port: plain, path: '/secret' }, () => yes('open')).on('error', no)),
    https: () => tried((yes, no) => require('https').get({ host, port, ca }, () => yes('open')).on('error', no)),
    family: () => tried((yes, no) => require('https').get({ host, port, ca, family: 4 }, () => yes('open')).on('error', no)),
    fetch: () => tried((yes, no) => (globalThis.fetch || require('node-fetch'))('https://' + host + ':' + port).then(() => yes('open'), no)),
    lookup: () => tried((yes, no) => require('dns').lookup('secret.' + host, (e) => e ? no(e) : yes('known'))),
    resolve: () => tried((yes, no) => require('dns').resolve4('secret.' + host, (e) => e ? no(e) : yes('known'))),
    promises: () => require('dns').promises.lookup('secret.' + host).then(() => 'known', (e) => e.code),
    resolver: () => tried((yes, no) => new (require('dns').Resolver)().resolve4('secret.' + host, (e) => e ? no(e) : yes('known'))),
    address: () => tried((yes, no) => require('tls').connect({ host: '127.0.0.1', port, ca, servername: host }, () => yes('open')).on('error', no)),
  });
  const all = async (host, args) => {
    const seen = {};
    for (const [name, way] of Object.entries(ways(host, args))) seen[name] = await way();
    return seen;
  };`;

const reset = 'EDESTINATION';
const here = (): string => `allowed.test:${ports.tls}`;

describe.each(specRuntimes)('code on %s that holds values of bound tokens', (runtime) => {
  it('reaches no second host by any way, and asks for no name of one', async () => {
    const code = `${ways} module.exports = async ({ args }) => ({ raw: await all('other.test', args) })`;
    const outcome = await run(code, { runtime }, { reach: () => [here()] });
    const seen = (outcome as { value?: { raw: Record<string, string> } }).value?.raw ?? {};
    expect(Object.keys(seen)).toHaveLength(11);
    for (const [way, what] of Object.entries(seen)) {
      expect([way, what]).not.toEqual([way, expect.stringMatching(/^(?:open|known)$/)]);
    }
    expect(heard).toEqual({ tls: 0, plain: '' });
    expect(asked).toEqual([]);
  });

  it('reaches the host that is allowed, by its name and by the address of its name', async () => {
    const code = `${ways} module.exports = async ({ args }) => {
      const { https, tls, family } = ways('allowed.test', args);
      return { raw: [await https(), await tls(), await family()] };
    }`;
    const outcome = await run(code, { runtime }, { reach: () => [here()] });
    expect(outcome).toMatchObject({ value: { raw: ['open', 'open', 'open'] } });
  });
});

it('connections that were open to other hosts end when an answer of svc narrows the run', async () => {
  const code = `
    module.exports = async ({ args, svc }) => {
      const socket = require('net').connect(args.plain, 'other.test');
      const ended = new Promise((yes) => socket.once('close', () => yes('closed')).once('error', () => undefined));
      await new Promise((yes) => { socket.once('data', yes); socket.write('before'); });
      const value = await svc.tokens.retrieve('x');
      socket.write(value.data);
      const after = await tried((yes, no) => require('net').connect(args.plain, 'other.test', () => yes('open')).on('error', no));
      return { raw: [await ended, after] };
    }`;
  let reach: string[] | undefined;
  const outcome = await run(
    code,
    { svc: true, applicationId: 'application' },
    {
      onCall: () => {
        reach = [here()];
        return Promise.resolve({ data: 'secret' });
      },
      reach: () => reach,
    },
  );
  expect(outcome).toMatchObject({ value: { raw: ['closed', 'ECONNREFUSED'] } });
  expect(heard.plain).toBe('before');
});

it('a host of https takes nothing in the clear from code that holds bound values', async () => {
  const code = `
    module.exports = ({ args }) => tried((yes, no) => {
      const socket = require('net').connect(args.plain, 'allowed.test', () => socket.write('secret'));
      socket.on('error', no).on('close', () => no(new Error('closed'))).on('data', () => yes('heard'));
    }).then((raw) => ({ raw }))`;
  const bound = await run(code, {}, { reach: () => [`allowed.test:${ports.plain}`] });
  expect(JSON.stringify(bound)).not.toContain('heard');
  expect(heard.plain).toBe('');
  const plain = await run(code, {}, { reach: () => [`http://allowed.test:${ports.plain}`] });
  expect(plain).toMatchObject({ value: { raw: 'heard' } });
});

it.each(specRuntimes)(
  'TLS of code on %s has to name a host that is allowed, since others may share its address',
  async (runtime) => {
    const code = `
      const tls = require('tls');
      module.exports = async ({ args }) => {
        const to = (more) => tried((yes, no) => tls
          .connect({ host: 'allowed.test', port: args.plain, rejectUnauthorized: false, ...more })
          .on('error', no));
        return { raw: [await to({ servername: 'other.test' }), await to({ servername: '' })] };
      }`;
    const reach = () => [`allowed.test:${ports.plain}`];
    const outcome = await run(code, { runtime }, { reach });
    expect(outcome).toMatchObject({ value: { raw: [reset, reset] } });
    expect(heard.plain).toBe('');
  },
);

it('TLS that code writes byte by byte reaches the host that is allowed', async () => {
  const code = `
    const { Duplex } = require('stream');
    module.exports = async ({ args }) => ({ raw: await tried((yes, no) => {
      const raw = require('net').connect(args.tls, 'allowed.test');
      const byByte = async (chunk) => {
        for (const byte of chunk) await new Promise((written) => raw.write(Buffer.of(byte), written));
      };
      const socket = new Duplex({ read() {}, write: (chunk, _, done) => void byByte(chunk).then(() => done(), done) });
      raw.on('data', (data) => socket.push(data)).on('close', () => socket.destroy());
      require('tls').connect({ socket, servername: 'allowed.test', ca: args.ca }, () => yes('open')).on('error', no);
    }) })`;
  const outcome = await run(code, {}, { reach: () => [here()] });
  expect(outcome).toMatchObject({ value: { raw: 'open' } });
});

it('an open connection that has named another host of the address ends when the run is narrowed', async () => {
  const code = `
    const open = (servername, { tls: port, ca }) => new Promise((yes, no) => {
      const socket = require('tls').connect({ host: 'allowed.test', port, ca, servername }, () => yes(socket)).on('error', no);
    });
    module.exports = async ({ args, svc }) => {
      const [allowed, other] = [await open('allowed.test', args), await open('other.test', args)];
      const ended = new Promise((yes) => other.once('close', () => yes('closed')));
      await svc.tokens.retrieve('x');
      const answer = new Promise((yes) => allowed.once('data', (data) => yes(String(data).slice(0, 12))));
      allowed.write('GET / HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n');
      return { raw: [await ended, await answer] };
    }`;
  let reach: string[] | undefined;
  const onCall = () => {
    reach = [here()];
    return Promise.resolve({ data: 'secret' });
  };
  const asApplication = { svc: true, applicationId: 'application' };
  const outcome = await run(code, asApplication, { onCall, reach: () => reach });
  expect(outcome).toMatchObject({ value: { raw: ['closed', 'HTTP/1.1 200'] } });
});

it('a process that held bound values serves no further run', async () => {
  const code = 'let runs = 0; module.exports = () => ({ raw: (runs += 1) })';
  expect(await run(code)).toMatchObject({ value: { raw: 1 } });
  expect(await run(code)).toMatchObject({ value: { raw: 2 } });
  expect(await run(code, {}, { reach: () => [] })).toMatchObject({ value: { raw: 3 } });
  expect(await run(code)).toMatchObject({ value: { raw: 1 } });
});
