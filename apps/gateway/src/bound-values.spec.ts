import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import {
  startDestination,
  startDnsServer,
  waitFor,
  type Destination,
  type DnsServer,
} from '@glovebox/testing';
import {
  matching,
  openTunnelTo,
  sendConnect,
  startSpecForward,
  startTlsDestination,
  type SpecForward,
  type TlsDestination,
} from './forward/spec-forward';
import { entryNames, openEntries, type Entries } from './spec-entries';
import { RawCaller } from './spec-sockets';

const name = 'moving.test';

let spec: SpecForward;
let dns: DnsServer;
let destination: Destination;
let elsewhere: Destination;
/** At the port of the destination, under an address that nobody may reach. */
let neighbour: Server;
let neighboursCallers = 0;
let addresses: string[];
let entries: Entries;
let here: string;
let key: string;

beforeAll(async () => {
  dns = await startDnsServer(({ type }) => ({ addresses: type === 'A' ? addresses : [] }));
  spec = await startSpecForward({ EGRESS_DNS: dns.address, EGRESS_ALLOW_HTTP: 'true' });
  elsewhere = await startDestination();
  destination = await startDestination(({ url }, response) => {
    // The next request needs a new connection, and looks the name up again.
    response.setHeader('connection', 'close');
    if (url.startsWith('/away')) response.writeHead(302, { location: elsewhere.url });
    response.end();
  });
  neighbour = createServer((socket) => {
    neighboursCallers += 1;
    socket.destroy();
  }).listen(destination.port, '127.0.0.2');
  await once(neighbour, 'listening');
  here = `${name}:${destination.port}`;
  entries = await openEntries(spec, `http://${here}`);
  key = await spec.application(['token:use']);
});
afterAll(async () => {
  await spec.close();
  await destination.close();
  await elsewhere.close();
  await dns.close();
  neighbour.close();
});
beforeEach(() => {
  addresses = ['127.0.0.1'];
  destination.requests.length = 0;
});

const bound = (...destinations: string[]): Promise<string> => spec.token('4242', { destinations });

/** What the audit log has of a token, which is all that it has of the call. */
async function recorded(id: string): Promise<unknown[]> {
  const lines = await spec.uses(id);
  return lines.map(({ outcome, destination_host }) => [outcome, destination_host]);
}

function isRefused({ status, json }: RawCaller): void {
  expect([status, json]).toMatchObject([403, { proxy_error: { code: 'destination_not_allowed' } }]);
}

describe.each(entryNames)('a bound token of a request %s', (entry) => {
  async function send(path: string, host?: string): Promise<RawCaller> {
    const { call, target, keys } = entries[entry];
    const headers = host === undefined ? keys : keys.replace(/^Host: .*$/m, `Host: ${host}`);
    const caller = await call(
      `GET ${target(path)} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`,
    );
    await waitFor(() => caller.ended);
    return caller;
  }

  it('goes to the destination of its proxy alone, not to the host that the request names', async () => {
    const right = await bound(`http://${here}`);
    expect((await send(`/?x={{${right}}}`)).status).toBe(200);
    expect(destination.requests.map(({ url }) => url)).toEqual(['/?x=4242']);
    const wrong = await bound('a', 'http://a', 'https://a:443');
    isRefused(await send(`/?x={{${wrong}}}`));
    expect(destination.requests).toHaveLength(1);
    expect(await recorded(wrong)).toEqual([['refused', here]]);
  });

  it('does not follow a redirect', async () => {
    const id = await bound(`http://${here}`);
    const answer = await send(`/away?x={{${id}}}`);
    expect(answer.status).toBe(302);
    expect(destination.requests).toHaveLength(1);
    expect(elsewhere.requests).toEqual([]);
    expect(await recorded(id)).toEqual([['success', here]]);
  });

  it('is not opened for the name of a host', async () => {
    const id = await bound(`http://${here}`);
    await send('/', `{{${id}}}.example`);
    expect(JSON.stringify(destination.requests)).not.toContain('4242');
    expect(await recorded(id)).toEqual([]);
  });

  it('does not go where the name of its host leads meanwhile, if nobody may reach that', async () => {
    const id = await bound(`http://${here}`);
    expect((await send(`/?x={{${id}}}`)).status).toBe(200);
    addresses = ['127.0.0.2'];
    expect((await send(`/?x={{${id}}}`)).status).toBe(502);
    expect(neighboursCallers).toBe(0);
    expect(destination.requests).toHaveLength(1);
    // One line for each of the two.
    expect(await recorded(id)).toEqual([
      ['success', here],
      ['success', here],
    ]);
  });
});

it('no expression is replaced in what CONNECT, a whole URL or SVC-PROXY-URL names', async () => {
  await spec.tenantSettings({ forward_unmatched: 'expressions', enable_ephemeral_proxy: 'true' });
  const id = await bound('*.example');
  const host = `{{${id}}}.example`;
  const connected = await sendConnect(spec.forwardPort, `${host}:443`, key);
  expect(await connected.done()).toMatch(/^HTTP\/1\.1 400 /);
  const credentials = `SVC-API-KEY: ${key}\r\nProxy-Authorization: Bearer ${key}\r\n`;
  for (const [port, target, more] of [
    [spec.forwardPort, `http://${host}/`, ''],
    [spec.port, '/proxy', `SVC-PROXY-URL: http://${host}/\r\n`],
  ] as const) {
    const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${credentials}${more}`;
    const caller = new RawCaller(port, `${head}Connection: close\r\n\r\n`);
    await waitFor(() => caller.ended);
    expect([target, caller.status]).toEqual([target, 400]);
  }
  expect(await recorded(id)).toEqual([]);
});

describe('a bound token of forward mode', () => {
  it('goes through forward_to: "request" to an origin that it allows, and to no other', async () => {
    const secure: TlsDestination = await startTlsDestination();
    await spec.proxy('https://elsewhere.example', {
      ...matching([secure.address]),
      ...{ forwardTo: 'request', tls: secure.tls },
    });
    const [right, wrong] = [await bound(secure.address), await bound('elsewhere.example')];
    const client = await openTunnelTo(spec, secure.address, key);
    expect(await client.get(`/?x={{${wrong}}}`, secure.address)).toBe(403);
    expect(client.text).toContain('destination_not_allowed');
    expect(secure.requests).toEqual([]);
    expect(await recorded(wrong)).toEqual([['refused', secure.address]]);
    expect(await client.get(`/?x={{${right}}}`, secure.address)).toBe(200);
    expect(secure.requests.map(({ url }) => url)).toEqual(['/?x=4242']);
    client.socket.destroy();
    await secure.close();
  });

  it('goes with forward_unmatched expressions to an origin that it allows, and to no other', async () => {
    await spec.tenantSettings({ forward_unmatched: 'expressions' });
    const [right, wrong] = [await bound(`http://${here}`), await bound(here, 'http://other.test')];
    const send = async (id: string): Promise<RawCaller> => {
      const caller = new RawCaller(
        spec.forwardPort,
        `GET http://${here}/?x={{${id}}} HTTP/1.1\r\nHost: ${here}\r\n` +
          `Proxy-Authorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
      );
      await waitFor(() => caller.ended);
      return caller;
    };
    isRefused(await send(wrong));
    expect(destination.requests).toEqual([]);
    expect(await recorded(wrong)).toEqual([['refused', here]]);
    expect((await send(right)).status).toBe(200);
    expect(destination.requests.map(({ url }) => url)).toEqual(['/?x=4242']);
  });
});
