import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import net, { type AddressInfo, type Server } from 'node:net';
import type { RunOutcome } from '@glovebox/sandbox';
import {
  createAuthority,
  freePort,
  startDnsServer,
  waitFor,
  type DnsServer,
} from '@glovebox/testing';
import { specRuntimes, startSpecRunner, type SpecRunner } from './spec-runner';

/** Real servers on this machine, which EGRESS_ALLOW lets code reach under real names. */
const authority = createAuthority();
const certificate = authority.issue('DNS:service.test', 'DNS:other.test', 'IP:127.0.0.1');
const bigBytes = 5 * 1024 * 1024;
const servers: Server[] = [];
const seen = { connections: 0, waiting: 0, serverNames: new Set<unknown>() };
const ports = { http: 0, https: 0, echo: 0, six: 0, closed: 0 };
let dns: DnsServer;
let runner: SpecRunner;

beforeAll(async () => {
  const listen = async (server: Server, host = '127.0.0.1'): Promise<number> => {
    servers.push(server);
    server.on('connection', () => (seen.connections += 1));
    server.listen(0, host);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  ports.http = await listen(http.createServer(answer));
  const secure = https.createServer(certificate, answer);
  secure.on('secureConnection', (socket) => seen.serverNames.add(socket.servername));
  secure.on('tlsClientError', () => undefined);
  ports.https = await listen(secure);
  ports.echo = await listen(
    net.createServer((socket) => socket.on('error', () => {}).pipe(socket)),
  );
  ports.six = await listen(http.createServer(answer), '::1');
  ports.closed = await freePort();
  dns = await startDnsServer(({ name }) => {
    if (/^(?:service|other|wrong)\.test$/.test(name)) return { addresses: ['127.0.0.1'] };
    if (name === 'both.test') return { addresses: ['127.0.0.1', '::1'] };
    if (name === 'private.test') return { addresses: ['10.0.0.1'] };
    return name === 'failing.test' ? 'failure' : 'no such name';
  });
  const allowed = [ports.http, ports.https, ports.echo, ports.closed];
  runner = await startSpecRunner({
    EGRESS_ALLOW: [...allowed.map((port) => `127.0.0.1:${port}`), `[::1]:${ports.six}`].join(),
    EGRESS_DNS: dns.address,
  });
});
afterAll(async () => {
  await runner.stop();
  await dns.close();
  for (const server of servers) {
    if ('closeAllConnections' in server) (server as http.Server).closeAllConnections();
    server.close();
  }
});

function answer(req: IncomingMessage, res: ServerResponse): void {
  const url = new URL(req.url ?? '', 'http://any');
  req.on('error', () => undefined);
  if (url.pathname === '/big') return void sendBig(res);
  if (url.pathname === '/never') {
    seen.waiting += 1;
    return void req.on('close', () => (seen.waiting -= 1));
  }
  if (url.pathname === '/reset') return void req.socket.resetAndDestroy();
  if (url.pathname === '/to') {
    return void res.writeHead(302, { location: url.searchParams.get('url') ?? '' }).end();
  }
  let bytes = 0;
  req.on('data', (chunk: Buffer) => (bytes += chunk.length));
  req.on('end', () =>
    res.end(JSON.stringify({ method: req.method, host: req.headers.host, bytes })),
  );
}

/** Chunked, as there is no length, and only as fast as it is read. */
async function sendBig(res: ServerResponse): Promise<void> {
  for (let sent = 0; sent < bigBytes; sent += 64 * 1024) {
    if (!res.write(Buffer.alloc(64 * 1024, 'x'))) await once(res, 'drain');
  }
  res.end();
}

/** Every client under one name: `send(client, url, options)` resolves to status and text. */
const clients = `
  const [http, https, net, tls, dns] = ['http', 'https', 'net', 'tls', 'dns'].map((name) => require(name));
  const agents = {};
  const agentOf = (url, ca) => (agents[url.slice(0, 5) + ca] ??= new (url.startsWith('https') ? https : http).Agent({ keepAlive: true, maxSockets: 1, ca }));
  const plain = (url, { method = 'GET', body, signal, ca, timeout, headers } = {}) => new Promise((resolve, reject) => {
    const of = url.startsWith('https') ? https : http;
    const req = of.request(url, { method, ca, timeout, headers, agent: agentOf(url, ca) }, (res) => {
      let text = ''; res.setEncoding('latin1').on('data', (part) => (text += part)).on('error', reject).on('end', () => resolve({ status: res.statusCode, text }));
    });
    // The option \`signal\` of http.request does nothing on Node.js 16.
    signal?.addEventListener('abort', () => req.destroy(new Error('aborted')));
    req.on('error', reject).on('timeout', () => req.destroy(Object.assign(new Error('timed out'), { code: 'TIMEOUT' })));
    if (body && typeof body !== 'string') body.pipe(req); else req.end(body);
  });
  const send = async (client, url, options = {}) => {
    const { method, body, signal, ca, headers } = options;
    if (client === 'http' || client === 'https') return plain(url, options);
    if (client === 'axios') {
      const res = await require('axios')({ url, method, data: body, signal, headers, responseType: 'text', transformResponse: (x) => x, maxBodyLength: Infinity,
        timeout: options.timeout, maxRedirects: body && typeof body !== 'string' ? 0 : 5, validateStatus: null, httpAgent: agentOf('http:'), httpsAgent: agentOf('https', ca) });
      return { status: res.status, text: res.data };
    }
    const one = client === 'fetch' ? globalThis.fetch : require('node-fetch');
    const agent = client === 'fetch' ? {} : { agent: ({ protocol }) => agentOf(protocol === 'https:' ? 'https' : 'http:', ca) };
    const stream = body && typeof body !== 'string' ? { body: client === 'fetch' ? require('stream').Readable.toWeb(body) : body, duplex: 'half' } : { body };
    const res = await one(url, { method, signal, headers, ...stream, ...agent });
    return { status: res.status, text: await res.text() };
  };
  const codeOf = (error) => error.cause?.code ?? error.code ?? error.errno ?? error.name;
`;

const inSandbox = (
  body: string,
  args: Record<string, unknown>,
  more: Parameters<SpecRunner['run']>[1] = {},
): Promise<RunOutcome> =>
  runner.run(`${clients} module.exports = async ({ args }) => { ${body} }`, {
    args: { ca: authority.ca, ports, ...args },
    timeoutMs: 20_000,
    ...more,
  });

const valueOf = (outcome: RunOutcome): unknown =>
  outcome.kind === 'returned' ? outcome.value : outcome;

const matrix = specRuntimes.flatMap((runtime) =>
  ['http', 'axios', 'node-fetch', ...(runtime === 'node20' ? ['fetch'] : [])].map(
    (client) => [client, runtime] as const,
  ),
);

it.each(matrix)(
  '%s on %s reaches and looks up nothing where the network is off',
  async (client, runtime) => {
    const before = seen.connections;
    const asked = dns.questions.length;
    const body = `const tried = async (work) => { try { return await work() } catch (error) { return codeOf(error) } };
    return {
      name: await tried(() => send(args.client, args.urls[0])),
      address: await tried(() => send(args.client, args.urls[1])),
      lookUp: await tried(() => require('dns').promises.lookup('service.test')),
      raw: await tried(() => new Promise((resolve, reject) =>
        require('net').connect(args.ports.echo, '127.0.0.1', resolve).on('error', reject))),
    }`;
    const urls = [`http://service.test:${ports.http}/a`, `http://127.0.0.1:${ports.http}/a`];
    const outcome = await inSandbox(body, { client, urls }, { runtime, network: false });
    expect(valueOf(outcome)).toEqual({
      ...{ name: 'ENETDOWN', address: 'ENETDOWN', lookUp: 'ENETDOWN', raw: 'ENETDOWN' },
    });
    expect(seen.connections).toBe(before);
    expect(dns.questions.length).toBe(asked);
  },
);

describe.each(matrix)('%s on %s', (client, runtime) => {
  const run = async (body: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    valueOf(await inSandbox(body, { client, ...args }, { runtime }));

  it('reaches a name, an address and an IPv6 address', async () => {
    const urls = [
      `http://service.test:${ports.http}/a`,
      `http://127.0.0.1:${ports.http}/a`,
      `http://[::1]:${ports.six}/a`,
    ];
    const texts = await run(
      'return { all: await Promise.all(args.urls.map(async (url) => JSON.parse((await send(args.client, url)).text).host)) }',
      { urls },
    );
    expect(texts).toEqual({ all: urls.map((url) => new URL(url).host) });
  });

  it('keeps its connection through a run', async () => {
    const before = seen.connections;
    const body = `for (let n = 0; n < 5; n += 1) await send(args.client, args.url, { method: 'POST', body: 'x' });
      return { done: true }`;
    expect(await run(body, { url: `http://service.test:${ports.http}/a` })).toEqual({ done: true });
    // Node's own fetch makes a second connection, outside of a sandbox, too.
    expect(seen.connections - before).toBeLessThanOrEqual(client === 'fetch' ? 2 : 1);
  });

  it('uploads and downloads 5 MB in chunks, as fast as the other side takes them', async () => {
    const body = `
      const chunks = function* () { for (let n = 0; n < 80; n += 1) yield Buffer.alloc(65536, 'y'); };
      const up = await send(args.client, args.url + '/a', { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: require('stream').Readable.from(chunks()) });
      const down = await send(args.client, args.url + '/big');
      return { up: JSON.parse(up.text).bytes, down: down.text.length }`;
    const url = `http://service.test:${ports.http}`;
    expect(await run(body, { url })).toEqual({ up: bigBytes, down: bigBytes });
  });

  it('ends a request that is aborted, and one that takes too long', async () => {
    const body = `const abort = new AbortController();
      const sent = (options) => send(args.client, args.url, options).then(() => 'answered', (error) => error.name + error.message);
      setTimeout(() => abort.abort(), 100);
      const aborted = await sent({ signal: abort.signal });
      const late = await sent(/^http$|axios/.test(args.client) ? { timeout: 100 } : { signal: AbortSignal.timeout(100) });
      return { aborted, late }`;
    const ended = await run(body, { url: `http://service.test:${ports.http}/never` });
    expect(ended).toEqual({
      aborted: expect.stringMatching(/abort|cancel/i),
      late: expect.stringMatching(/timeout|timed out|aborted/i),
    });
    await waitFor(() => seen.waiting === 0);
  });

  it('sees the reset of a connection', async () => {
    const body = `return { code: await send(args.client, args.url).catch(codeOf) }`;
    const got = await run(body, { url: `http://service.test:${ports.http}/reset` });
    expect(got).toEqual({ code: expect.stringMatching(/^(?:ECONNRESET|UND_ERR_SOCKET)$/) });
  });

  it.each([
    'http://127.0.0.1:5432/',
    'http://169.254.169.254/latest',
    'http://10.0.0.1/',
    'http://[::1]:5432/',
    'http://[::ffff:127.0.0.1]:5432/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://2130706433:5432/',
    'http://0x7f.1:5432/',
    'http://localhost:9083/',
    'http://private.test/',
    'http://unknown.test/',
    'http://127.0.0.1:CLOSED/',
  ])('gets the same refusal for %s', async (url) => {
    const body = `return send(args.client, args.url).then(() => ({}), (error) => {
      const { code, message } = error.cause ?? error;
      return { code: code ?? error.errno, text: /connect ECONNREFUSED$/.test(message) }; })`;
    const got = await run(body, { url: url.replace('CLOSED', String(ports.closed)) });
    expect(got).toEqual({ code: 'ECONNREFUSED', text: true });
  });

  it('follows a redirect to a name, and is refused at one to a forbidden address', async () => {
    const body = `const to = (url) => send(args.client, args.url + encodeURIComponent(url)).then(({ status }) => status, codeOf);
      return { fine: await to(args.fine), refused: await to('http://169.254.169.254/'), own: await to('http://[::ffff:7f00:1]:9083/') }`;
    const url = `http://service.test:${ports.http}/to?url=`;
    const fine = `http://other.test:${ports.http}/a`;
    const follows = client !== 'http';
    expect(await run(body, { url, fine })).toEqual(
      follows
        ? { fine: 200, refused: 'ECONNREFUSED', own: 'ECONNREFUSED' }
        : { fine: 302, refused: 302, own: 302 },
    );
  });
});

const withAuthority = matrix.filter(([client]) => client !== 'fetch');

describe.each(withAuthority)('https by %s on %s', (client, runtime) => {
  const run = async (body: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    valueOf(await inSandbox(body, { client, ...args }, { runtime }));

  it('trusts a private authority that it is given, and keeps its connection', async () => {
    const before = seen.connections;
    const body = `const texts = []; for (let n = 0; n < 3; n += 1) texts.push((await send(args.client, args.url, { method: 'POST', body: 'xy', ca: args.ca })).text);
      return { texts }`;
    const host = `service.test:${ports.https}`;
    expect(await run(body, { url: `https://${host}/a` })).toEqual({
      texts: Array(3).fill(JSON.stringify({ method: 'POST', host, bytes: 2 })),
    });
    expect(seen.connections - before).toBe(1);
    expect(seen.serverNames).toContain('service.test');
  });

  it.each([
    ['without it', 'service.test', undefined, /UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|SELF_SIGNED/],
    ['by another one', 'service.test', createAuthority().ca, /UNABLE|SIGNATURE|SELF_SIGNED/],
    ['for another name', 'wrong.test', authority.ca, /ERR_TLS_CERT_ALTNAME_INVALID/],
  ])('refuses a certificate %s', async (_, host, ca, code) => {
    const body = `return { code: await send(args.client, args.url, { ca: args.ca ?? undefined }).then(() => 'trusted', codeOf) }`;
    const url = `https://${host}:${ports.https}/a`;
    expect(await run(body, { url, ca: ca ?? null })).toEqual({ code: expect.stringMatching(code) });
  });
});

describe.each(specRuntimes)('a socket of code on %s', (runtime) => {
  const run = async (body: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    valueOf(await inSandbox(body, args, { runtime }));

  it('carries bytes both ways in every form of net.connect', async () => {
    const body = `const { echo } = args.ports;
      const heard = (socket) => new Promise((resolve, reject) => { let text = ''; socket.on('data', (part) => (text += part)).on('end', () => resolve(text)).on('error', reject).end('hello'); });
      return { all: await Promise.all([
        net.connect(echo, 'service.test'), net.connect({ port: echo, host: '127.0.0.1' }), net.createConnection(String(echo), '127.0.0.1', () => {}),
        new net.Socket().connect(echo, 'service.test'), net.connect({ port: echo, host: 'both.test', family: 4 }),
        net.connect({ port: echo, host: 'any.name', lookup: (name, options, done) => done(null, '127.0.0.1', 4) }),
      ].map(heard)) }`;
    expect(await run(body)).toEqual({ all: Array(6).fill('hello') });
  });

  it('is refused by the errors of Node where it cannot connect', async () => {
    const body = `const { closed, echo } = args.ports;
      const code = (...to) => new Promise((resolve) => { try { net.connect(...to).on('connect', () => resolve('connected')).on('error', ({ code }) => resolve(code)) } catch ({ code }) { resolve(code) } });
      return { codes: [await code(closed, 'service.test'), await code('/tmp/x.sock'), await code(70000, 'service.test'), await code({ host: 'service.test' }),
        await code({ port: echo, host: 'service.test', family: 6 }), await code({ port: echo, host: 'x', lookup: (n, o, done) => done(Object.assign(new Error(), { code: 'MINE' })) })] }`;
    expect(await run(body)).toEqual({
      codes: [
        'ECONNREFUSED',
        'EACCES',
        'ERR_SOCKET_BAD_PORT',
        'ERR_SOCKET_BAD_PORT',
        'ENOTFOUND',
        'MINE',
      ],
    });
  });

  it('speaks TLS by tls.connect, with an authority, a servername and over its own socket', async () => {
    const body = `const port = args.ports.https, { ca } = args;
      const heard = (make) => new Promise((resolve) => { let text = ''; const socket = make();
        socket.on('secureConnect', () => socket.write('GET /a HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n')).on('data', (part) => (text += part))
          .on('end', () => resolve([socket.authorized, /200 OK/.test(text)])).on('error', ({ code }) => resolve(code)); });
      return { all: [
        await heard(() => tls.connect(port, 'service.test', { ca })),
        await heard(() => tls.connect({ host: '127.0.0.1', port, ca })),
        await heard(() => tls.connect({ host: '127.0.0.1', port, ca, servername: 'other.test' })),
        await heard(() => tls.connect({ host: 'service.test', port, ca, servername: 'foreign.test' })),
        await heard(() => tls.connect({ socket: net.connect(port, 'service.test'), ca, servername: 'service.test' })),
        await heard(() => tls.connect({ host: '10.0.0.1', port, ca })),
      ] }`;
    const fine = [true, true];
    expect(await run(body)).toEqual({
      all: [fine, fine, fine, 'ERR_TLS_CERT_ALTNAME_INVALID', fine, 'ECONNREFUSED'],
    });
    expect([...seen.serverNames]).toContain('other.test');
  });

  it('connects once more when it was closed', async () => {
    const body = `const { echo } = args.ports;
      const socket = new net.Socket(), all = [];
      socket.on('data', (part) => all.push(String(part)));
      for (const text of ['a', 'b']) {
        socket.connect(echo, 'service.test').end(text);
        await new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject));
      }
      return { all }`;
    expect(await run(body)).toEqual({ all: ['a', 'b'] });
  });

  it('of http reaches no socket file, and nothing in its place', async () => {
    const body = `return { code: await new Promise((resolve) => require('http').get({ socketPath: '/tmp/x.sock' }).on('error', ({ code }) => resolve(code))) }`;
    expect(await run(body)).toEqual({ code: 'EACCES' });
  });

  it('times out when nothing moves on it', async () => {
    const body = `const socket = net.connect({ port: args.ports.echo, host: 'service.test', timeout: 50 });
      return { event: await new Promise((resolve) => socket.on('timeout', () => resolve('timeout')).on('error', ({ code }) => resolve(code))) }`;
    expect(await run(body)).toEqual({ event: 'timeout' });
  });
});

describe.each(specRuntimes)('a connection that an agent keeps on %s', (runtime) => {
  it.each(['http', 'https'])(
    'over %s does not outlive its run, and the next run makes another one',
    async (protocol) => {
      const body = `const { text } = await send('http', args.url, { method: 'POST', body: 'x', ca: args.ca }); return { text }`;
      const port = protocol === 'http' ? ports.http : ports.https;
      const url = `${protocol}://service.test:${port}/a`;
      const before = seen.connections;
      for (let n = 1; n <= 5; n += 1) {
        const outcome = await inSandbox(body, { url }, { runtime });
        expect(outcome).toMatchObject({ kind: 'returned' });
        expect(seen.connections - before).toBe(n);
      }
    },
  );
});

describe.each(specRuntimes)('code on %s that reads slowly', (runtime) => {
  it.each(['net', 'tls'])('loses no data of %s when the other side ends', async (module) => {
    const end = (socket: net.Socket): void =>
      void socket.on('error', () => undefined).end(Buffer.alloc(bigBytes));
    const server = module === 'tls' ? tls.createServer(certificate, end) : net.createServer(end);
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const body = `let bytes = 0;
      const socket = ${module}.connect({ host: 'service.test', port: args.port, ca: args.ca });
      for await (const part of socket) { bytes += part.length; if (bytes % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1)); }
      await new Promise((resolve) => socket.destroyed ? resolve() : socket.on('close', resolve));
      return { bytes }`;
    const own = await startSpecRunner({ EGRESS_ALLOW: '127.0.0.1:*', EGRESS_DNS: dns.address });
    const code = `${clients} module.exports = async ({ args }) => { ${body} }`;
    const args = { port, ca: authority.ca };
    const outcome = await own.run(code, { runtime, args, timeoutMs: 20_000 });
    await own.stop();
    expect(outcome).toEqual({ kind: 'returned', value: { bytes: bigBytes } });
  });
});

it('fetch on node20 speaks TLS in the sandbox', async () => {
  const body = `const { status } = await fetch(args.url).catch((error) => ({ status: error.cause.code }));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    return { status, again: (await fetch(args.url)).status }`;
  const url = `https://service.test:${ports.https}/a`;
  expect(valueOf(await inSandbox(body, { url }, { runtime: 'node20' }))).toEqual({
    status: expect.stringMatching(/^UNABLE_TO_/),
    again: 200,
  });
});
