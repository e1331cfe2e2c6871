import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { RawCaller } from '../spec-sockets';
import { startSpecForward, type SpecForward } from './spec-forward';

let spec: SpecForward;
let destination: Destination;
let key: string;

beforeAll(async () => {
  spec = await startSpecForward();
  destination = await startDestination();
  key = await spec.application(['token:use']);
});
afterAll(async () => {
  await spec.close();
  await destination.close();
});

const host = (port = destination.port): string => `127.0.0.1:${port}`;
const matching = (path?: string) => ({
  match: { hosts: [`http://${host()}`], methods: [], paths: path === undefined ? [] : [path] },
});

/** Sends a request with these lines behind its first one, and waits for the whole answer. */
async function send(line: string, ...headers: string[]): Promise<RawCaller> {
  const head = [line, ...headers, 'Connection: close', '', ''].join('\r\n');
  const caller = new RawCaller(spec.forwardPort, head);
  await waitFor(() => caller.ended);
  return caller;
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe('a request with an http:// URL as its target', () => {
  it('goes through the proxy that matches it, with expressions replaced', async () => {
    await spec.proxy(`${destination.url}/base`, matching('/shop'));
    const token = await spec.token('4242');
    const answer = await send(
      `GET http://${host()}/shop/a?card={{${token}}} HTTP/1.1`,
      `Host: ${host()}`,
      `Proxy-Authorization: Bearer ${key}`,
      'X-Own: 1',
    );
    expect(answer.status).toBe(200);
    const received = destination.requests.at(-1);
    expect(received?.url).toBe('/base/shop/a?card=4242');
    expect(received?.headers).toMatchObject({ 'x-own': '1' });
    expect(JSON.stringify(received?.headers)).not.toContain(key);
    expect(received?.headers).not.toHaveProperty('proxy-authorization');
  });

  it.each([
    ['Bearer', (k: string) => `Bearer ${k}`],
    ['the user name of Basic', (k: string) => basic(`${k}:`)],
    ['the password of Basic', (k: string) => basic(`x:${k}`)],
  ])('is authorised by a key as %s', async (_, credentials) => {
    await spec.proxy(destination.url, matching('/ways'));
    const answer = await send(
      `GET http://${host()}/ways HTTP/1.1`,
      `Host: ${host()}`,
      `proxy-authorization: ${credentials(key)}`,
    );
    expect(answer.status).toBe(200);
  });

  it.each([
    ['another name', () => 'other.example'],
    ['another port', () => '127.0.0.1:1'],
    ['the usual port', () => '127.0.0.1'],
  ])('and %s in its Host header is 421, and goes nowhere', async (_, named) => {
    await spec.proxy(destination.url, matching('/ways'));
    const before = destination.requests.length;
    const answer = await send(
      `GET http://${host()}/ways HTTP/1.1`,
      `Host: ${named()}`,
      `Proxy-Authorization: Bearer ${key}`,
    );
    expect([answer.status, answer.json]).toMatchObject([
      421,
      { proxy_error: { code: 'misdirected_request' } },
    ]);
    expect(destination.requests).toHaveLength(before);
  });

  it.each([
    ['no key', []],
    ['a wrong key', ['Proxy-Authorization: Bearer key_wrong']],
    ['a key in another scheme', ['Proxy-Authorization: Digest x']],
    ['a key that means the destination', ['Authorization: Bearer KEY', 'SVC-API-KEY: KEY']],
  ])('with %s is asked for one by 407', async (_, headers) => {
    const before = destination.requests.length;
    const answer = await send(
      `GET http://${host()}/ways HTTP/1.1`,
      `Host: ${host()}`,
      ...headers.map((line) => line.replace('KEY', key)),
    );
    expect(answer.status).toBe(407);
    expect(answer.text).toContain('proxy-authenticate: Basic realm="Glovebox"');
    expect(answer.json).toMatchObject({
      proxy_error: { code: 'proxy_authentication_required', status: 407 },
    });
    expect(destination.requests).toHaveLength(before);
  });
});
