import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { ProxyDefinition } from '@glovebox/definitions';
import { createAuthority, startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { RawCaller, startRawServer } from '../spec-sockets';

const bufferMax = 4_096;
const filler = 'x'.repeat(80_000);
const transform = { code: '', codeHash: '', runtime: 'node20' } as const;

let gateway: SpecGateway;
let destination: Destination;
let other: Destination;
let tokenId: string;

type Proxy = Awaited<ReturnType<SpecGateway['changeableProxy']>>;
type Application = Awaited<ReturnType<SpecGateway['revocable']>>;
interface Parties {
  readonly proxy: Proxy;
  readonly application: Application;
}

beforeAll(async () => {
  gateway = await startSpecGateway({ PROXY_BUFFER_MAX: String(bufferMax) });
  destination = await startDestination();
  other = await startDestination();
  tokenId = await gateway.token('plaintext');
});

afterAll(async () => {
  await destination.close();
  await other.close();
  await gateway.close();
});

beforeEach(() => {
  destination.requests.length = 0;
  other.requests.length = 0;
});

const apiKey = ({ key }: { key: string }): string => `SVC-API-KEY: ${key}\r\n`;
const proxyKey = ({ key }: { key: string }): string => `SVC-PROXY-KEY: ${key}\r\n`;
const json = 'Content-Type: application/json\r\n';

/** Begins a call whose head is decided and whose body waits. */
async function begin(headers: string, bodyBytes: number): Promise<RawCaller> {
  const caller = new RawCaller(
    gateway.port,
    'POST /proxy HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n' +
      `${headers}Content-Length: ${bodyBytes}\r\n\r\n`,
  );
  await waitFor(() => caller.status === 100);
  caller.text = '';
  return caller;
}

async function refused(caller: RawCaller, status: number, code: string): Promise<void> {
  await waitFor(() => caller.text.endsWith('}'));
  expect([caller.status, caller.json]).toMatchObject([status, { proxy_error: { status, code } }]);
  expect([...destination.requests, ...other.requests]).toEqual([]);
}

async function answered(caller: RawCaller): Promise<void> {
  await waitFor(() => caller.text.includes('ok'));
  expect(caller.status).toBe(200);
}

const parties = async (proxy: Partial<ProxyDefinition> = {}): Promise<Parties> => ({
  proxy: await gateway.changeableProxy(destination.url, proxy),
  application: await gateway.revocable(['token:use']),
});

const pem = createAuthority();
const certificate = (): ProxyDefinition['tls'] => {
  const { cert, key } = pem.issue('DNS:client.test');
  return { certificate: cert, privateKey: key, authority: pem.ca };
};

const changes: [string, number, string, (parties: Parties) => Promise<void>][] = [
  [
    'the proxy has another destination',
    409,
    'changed_meanwhile',
    ({ proxy }) => proxy.change({ destinationUrl: other.url }),
  ],
  [
    'the proxy replaces no expressions any more',
    409,
    'changed_meanwhile',
    ({ proxy }) => proxy.change({ detokenize: false }),
  ],
  [
    'the proxy has a request transform',
    409,
    'changed_meanwhile',
    ({ proxy }) => proxy.change({ requestTransform: transform }),
  ],
  [
    'the proxy has a response transform',
    409,
    'changed_meanwhile',
    ({ proxy }) => proxy.change({ responseTransform: transform }),
  ],
  [
    'the proxy has a client certificate and an authority',
    409,
    'changed_meanwhile',
    ({ proxy }) => proxy.change({ tls: certificate() }),
  ],
  [
    'the proxy has another key',
    404,
    'not_found',
    ({ proxy }) => proxy.change({ keyHash: 'other' }),
  ],
  ['the proxy was deleted', 404, 'not_found', ({ proxy }) => proxy.remove()],
  ['the API key was revoked', 401, 'invalid_api_key', ({ application }) => application.revoke()],
  [
    'the application has expired',
    401,
    'invalid_api_key',
    ({ application }) => application.change({ expiresAt: new Date().toISOString() }),
  ],
  [
    'the application may use no tokens any more',
    403,
    'permission_denied',
    ({ application }) => application.change({ permissions: ['token:read'] }),
  ],
  [
    'the application may use tokens of fewer containers',
    409,
    'changed_meanwhile',
    ({ application }) =>
      application.change({
        permissions: [],
        rules: [
          {
            description: '',
            priority: 1,
            container: '/general/',
            transform: 'reveal',
            permissions: ['token:use'],
          },
        ],
      }),
  ],
];

describe('a change while the body of a call comes', () => {
  it.each(changes)(
    '(%s) ends a call with an expression with %d %s, and nothing is opened or forwarded',
    async (_, status, code, change) => {
      const id = await gateway.token('plaintext', { containers: ['/general/'] });
      const both = await parties();
      const body = `{"card":"{{${id}}}"}`;
      const headers = apiKey(both.application) + proxyKey(both.proxy) + json;
      const caller = await begin(headers, body.length);
      caller.socket.write(body.slice(0, 4));
      await change(both);
      caller.socket.write(body.slice(4));
      await refused(caller, status, code);
      expect(await gateway.uses(id)).toEqual([]);
    },
  );

  it.each(changes)(
    '(%s) ends a call that is passed on as it is with %d %s, and nothing is forwarded',
    async (_, status, code, change) => {
      const both = await parties();
      const headers = apiKey(both.application) + proxyKey(both.proxy);
      const caller = await begin(`${headers}Content-Type: application/pdf\r\n`, 4);
      await change(both);
      caller.socket.write('%PDF');
      await refused(caller, status, code);
    },
  );

  it('ends an anonymous call with 401 when its proxy now requires an API key', async () => {
    const { proxy } = await parties({ requireAuth: false });
    const caller = await begin(proxyKey(proxy) + json, 2);
    await proxy.change({ requireAuth: true });
    caller.socket.write('{}');
    await refused(caller, 401, 'invalid_api_key');
  });

  it('ends a call with SVC-PROXY-URL with 403 when its tenant has disabled that', async () => {
    await gateway.tenantSettings({ enable_ephemeral_proxy: 'true' });
    const { application } = await parties();
    const body = `{"card":"{{${tokenId}}}"}`;
    const to = `SVC-PROXY-URL: ${destination.url}\r\n`;
    const caller = await begin(apiKey(application) + to + json, body.length);
    await gateway.tenantSettings({});
    caller.socket.write(body);
    await refused(caller, 403, 'permission_denied');
  });

  it('does not end a call when it concerns only others', async () => {
    const both = await parties();
    const body = `{"card":"{{${tokenId}}}"}`;
    const headers = apiKey(both.application) + proxyKey(both.proxy) + json;
    const caller = await begin(headers, body.length);
    // Written anew, as after a change of its name or of the key that seals it.
    await both.proxy.change({});
    await both.application.change({});
    await parties();
    caller.socket.write(body);
    await answered(caller);
    expect(destination.requests[0]?.text()).toBe('{"card":"plaintext"}');
  });
});

describe('a change while a body is streamed', () => {
  it.each([
    ['that is filled in', json, `"${filler}`, `{{TOKEN}}"`],
    ['that is passed on as it is', 'Content-Type: application/pdf\r\n', filler, 'the end of it'],
  ])(
    'of the destination breaks off a request %s, and its call ends with 409',
    async (_, type, first, last) => {
      const raw = await startRawServer(() => undefined);
      try {
        const { application } = await parties();
        const proxy = await gateway.changeableProxy(raw.url);
        const id = await gateway.token('plaintext');
        const rest = last.replace('TOKEN', id);
        const headers = apiKey(application) + proxyKey(proxy) + type;
        const caller = await begin(headers, first.length + rest.length);
        caller.socket.write(first);
        await waitFor(() => raw.heard('xxxx'));
        await proxy.change({ destinationUrl: other.url });
        caller.socket.write(rest);
        await refused(caller, 409, 'changed_meanwhile');
        const connection = raw.heard('xxxx');
        await waitFor(() => connection?.ended);
        expect(connection?.text).not.toMatch(/plaintext|the end of it|0\r\n\r\n$/);
        expect(await gateway.uses(id)).toEqual([]);
      } finally {
        await raw.close();
      }
    },
  );
});

describe('while the connection to the destination is opened,', () => {
  const authority = createAuthority();
  const { cert, key } = authority.issue('IP:127.0.0.1');
  const tls = { certificate: null, privateKey: null, authority: authority.ca };

  /**
   * Starts a server that completes no handshake before it is told to, and records all it hears
   * then.
   */
  async function startHesitant() {
    const heard: string[] = [];
    const held: Socket[] = [];
    const all: Socket[] = [];
    const secure = createTlsServer({ cert, key }, (socket) => {
      socket.on('data', (bytes) => heard.push(bytes.toString('latin1')));
      socket.on('error', () => undefined);
    });
    const server = createTcpServer((socket) => {
      all.push(socket.on('error', () => undefined));
      held.push(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return {
      url: `https://127.0.0.1:${port}`,
      heard,
      held,
      goOn: () => held.splice(0).forEach((socket) => secure.emit('connection', socket)),
      close: () =>
        new Promise<void>((resolve) => {
          all.forEach((socket) => socket.destroy());
          server.close(() => resolve());
        }),
    };
  }

  const kinds = [
    ['a call without a body', ''],
    ['a call with an expression', 'X-Card: {{TOKEN}}\r\n'],
    ['a WebSocket', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
  ] as const;
  const ends: [string, number, string, (proxy: Proxy) => Promise<void>][] = [
    [
      'the proxy got another destination',
      409,
      'changed_meanwhile',
      (proxy) => proxy.change({ destinationUrl: other.url, tls }),
    ],
    ['the proxy was deleted', 404, 'not_found', (proxy) => proxy.remove()],
  ];
  it.each(kinds.flatMap(([kind, more]) => ends.map(([...end]) => [kind, ...end, more] as const)))(
    '%s meets a change (%s): it ends with %d %s, and no byte leaves',
    async (_kind, _end, status, code, change, more) => {
      const hesitant = await startHesitant();
      try {
        const proxy = await gateway.changeableProxy(hesitant.url, { tls });
        const { application } = await parties();
        const headers = apiKey(application) + proxyKey(proxy) + more.replace('TOKEN', tokenId);
        const caller = new RawCaller(
          gateway.port,
          `GET /proxy HTTP/1.1\r\nHost: a\r\n${headers}\r\n`,
        );
        await waitFor(() => hesitant.held.length > 0);
        await change(proxy);
        hesitant.goOn();
        await refused(caller, status, code);
        expect(hesitant.heard).toEqual([]);
      } finally {
        await hesitant.close();
      }
    },
  );

  it('a call without a change goes out as soon as there is a connection', async () => {
    const hesitant = await startHesitant();
    try {
      const proxy = await gateway.changeableProxy(hesitant.url, { tls });
      const { application } = await parties();
      const caller = new RawCaller(
        gateway.port,
        `GET /proxy/here HTTP/1.1\r\nHost: a\r\n${apiKey(application)}${proxyKey(proxy)}\r\n`,
      );
      await waitFor(() => hesitant.held.length > 0);
      hesitant.goOn();
      await waitFor(() => hesitant.heard.join('').startsWith('GET /here HTTP/1.1\r\n'));
      caller.socket.destroy();
    } finally {
      await hesitant.close();
    }
  });

  it.each([
    ['a call without a body', 'GET', '', ''],
    [
      'half of a body',
      'POST',
      'Content-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: 2000\r\n',
      'x'.repeat(1_000),
    ],
  ])('the lease ends: the stores are asked, and %s goes out', async (_, method, more, body) => {
    const lone = await startSpecGateway();
    const hesitant = await startHesitant();
    try {
      const proxy = await lone.changeableProxy(hesitant.url, { tls });
      const application = await lone.revocable(['token:use']);
      const caller = new RawCaller(
        lone.port,
        `${method} /proxy/here HTTP/1.1\r\nHost: a\r\n${apiKey(application)}${proxyKey(proxy)}${more}\r\n${body}`,
      );
      await waitFor(() => hesitant.held.length > 0);
      const { follower } = lone.ctx;
      await follower.stop();
      await waitFor(() => !follower.fresh());
      hesitant.goOn();
      await waitFor(() => hesitant.heard.join('').startsWith(`${method} /here HTTP/1.1\r\n`));
      await waitFor(() => hesitant.heard.join('').endsWith(body));
      caller.socket.destroy();
    } finally {
      await hesitant.close();
      await lone.close();
    }
  });
});
