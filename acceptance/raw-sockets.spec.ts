import { randomUUID } from 'node:crypto';
import { call, runningProduct } from './product';
import { answersIn, proxyPlaces, rawPlaces, talk, type Place } from './raw-socket';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { baseUrl, adminKey } = product;
/** A smuggled request creates a formula of this name, or reaches the destination. */
const smuggled = `smuggled ${randomUUID()}`;

let destination: Receiver;
let places: Awaited<ReturnType<typeof rawPlaces>>;

beforeAll(async () => {
  destination = await startReceiver();
  places = await rawPlaces(product, destination.url);
});
afterAll(() => destination.close());

function behind({ path, headers }: Place): string {
  const body = JSON.stringify({ type: 'private', name: smuggled, code: 'module.exports = 1' });
  return (
    `GET ${path}/smuggled HTTP/1.1\r\nHost: a\r\n${headers}\r\n` +
    `GET /proxy/smuggled HTTP/1.1\r\nHost: a\r\n${places['/proxy'].headers}\r\n` +
    `POST /reactor-formulas HTTP/1.1\r\nHost: a\r\n${places.management.headers}` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

async function nothingWasSmuggled(): Promise<void> {
  expect(destination.received).toEqual([]);
  const list = await call(
    'GET',
    `${baseUrl}/reactor-formulas?name=${encodeURIComponent(smuggled)}`,
    { key: adminKey },
  );
  expect(list.body).toMatchObject({ data: [], pagination: { total_items: 0 } });
}

const chunked = 'Transfer-Encoding: chunked\r\n';
const post = (headers: string, body = '') => ['POST', '', `Host: a\r\n${headers}`, body] as const;
const get = (headers: string) => ['GET', '', headers, ''] as const;

/** The fault, the status, and the request: method, rest of the path, headers, body. */
const hostile: [string, number, readonly [string, string, string, string], string?][] = [
  ['an empty Transfer-Encoding', 400, post('Transfer-Encoding: \r\n')],
  [
    'an empty Transfer-Encoding beside a length',
    400,
    post('Transfer-Encoding:\r\nContent-Length: 2\r\n', '{}'),
  ],
  ['an unknown Transfer-Encoding', 400, post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n')],
  [
    'a compressed Transfer-Encoding',
    400,
    post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
  ],
  ['chunked twice', 400, post(chunked + chunked, '0\r\n\r\n')],
  ['chunked, chunked', 400, post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n')],
  ['chunked and then more', 400, post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n')],
  [
    'a Transfer-Encoding beside a length',
    400,
    post(`${chunked}Content-Length: 5\r\n`, '0\r\n\r\n'),
  ],
  [
    'a length beside a Transfer-Encoding',
    400,
    post(`Content-Length: 5\r\n${chunked}`, '0\r\n\r\n'),
  ],
  [
    'identity beside a length',
    400,
    post('Transfer-Encoding: identity\r\nContent-Length: 2\r\n', '{}'),
  ],
  ['a blank before the colon', 400, post('Transfer-Encoding : chunked\r\n', '0\r\n\r\n')],
  [
    'a control character in the coding',
    400,
    post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n'),
  ],
  ['a folded Transfer-Encoding', 400, post('Transfer-Encoding:\r\n chunked\r\n', '0\r\n\r\n')],
  ['a folded header', 400, post('X-A: a\r\n b\r\n')],
  ['two lengths', 400, post('Content-Length: 2\r\nContent-Length: 3\r\n', '{}')],
  ['the same length twice', 400, post('Content-Length: 2\r\nContent-Length: 2\r\n', '{}')],
  ['a list of lengths', 400, post('Content-Length: 2, 2\r\n', '{}')],
  ['a signed length', 400, post('Content-Length: +2\r\n', '{}')],
  ['a negative length', 400, post('Content-Length: -2\r\n', '{}')],
  ['a hexadecimal length', 400, post('Content-Length: 0x2\r\n', '{}')],
  ['an empty length', 400, post('Content-Length: \r\n')],
  ['a length beyond all numbers', 400, post('Content-Length: 99999999999999999999\r\n', '{}')],
  ['a chunk of no number', 400, post(chunked, 'x\r\n{}\r\n0\r\n\r\n')],
  ['a negative chunk', 400, post(chunked, '-2\r\n{}\r\n0\r\n\r\n')],
  ['a chunk that is prefixed', 400, post(chunked, '0x2\r\n{}\r\n0\r\n\r\n')],
  ['a chunk with a blank', 400, post(chunked, '2 \r\n{}\r\n0\r\n\r\n')],
  ['a chunk beyond all numbers', 400, post(chunked, 'FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n')],
  ['a chunk that ends in LF', 400, post(chunked, '2\n{}\r\n0\r\n\r\n')],
  ['a chunk extension that ends in LF', 400, post(chunked, '2;\n{}\r\n0\r\n\r\n')],
  ['a chunk that is longer than it says', 400, post(chunked, '2\r\n{}x\r\n0\r\n\r\n')],
  [
    'a chunk extension without end',
    413,
    post(chunked, `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  ],
  ['a length among the trailers', 400, post(chunked, '0\r\nContent-Length: 5\r\n\r\n')],
  ['two Hosts', 400, get('Host: a\r\nHost: b\r\n')],
  ['the same Host twice', 400, get('Host: a\r\nhost: a\r\n')],
  ['no Host', 400, get('')],
  ['an empty Host', 400, get('Host:\r\n')],
  ['a Host with a path', 400, get('Host: a/b\r\n')],
  ['a Host with credentials', 400, get('Host: b@a\r\n')],
  ['a list of Hosts', 400, get('Host: a, b\r\n')],
  ['a Host with a blank', 400, get('Host: a b\r\n')],
  ['a header without name', 400, get('Host: a\r\n: x\r\n')],
  ['a header without colon', 400, get('Host: a\r\nX-A\r\n')],
  ['a header name with a blank', 400, get('Host: a\r\nX A: 1\r\n')],
  ['a blank before the first header', 400, get(' Host: a\r\n')],
  ['NUL in a header', 400, get('Host: a\r\nX-A: a\0b\r\n')],
  ['a control character in a header', 400, get('Host: a\r\nX-A: a\x01b\r\n')],
  ['a bare CR', 400, get('Host: a\r\nX-A: a\rX-B: b\r\n')],
  ['a bare LF', 400, get('Host: a\nX-A: a\r\n')],
  ['more headers than anybody needs', 431, post('x:\r\n'.repeat(2_100) + chunked, '0\r\n\r\n')],
  ['headers of 40 KB', 431, get(`Host: a\r\nX: ${'x'.repeat(40_000)}\r\n`)],
  ['a URL of 40 KB', 431, ['GET', `?${'x'.repeat(40_000)}`, 'Host: a\r\n', '']],
  ['two types of content', 400, get('Host: a\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n')],
  ['a fragment', 400, ['GET', '#x', 'Host: a\r\n', '']],
  ['a blank in the URL', 400, ['GET', '/a b', 'Host: a\r\n', '']],
  ['a tab in the URL', 400, ['GET', '/a\tb', 'Host: a\r\n', '']],
  ['NUL in the URL', 400, ['GET', '/a\0b', 'Host: a\r\n', '']],
  ['other letters than ASCII in the URL', 400, ['GET', '/\xc3\xa9', 'Host: a\r\n', '']],
  ['a method of its own', 405, ['PROPFIND', '', 'Host: a\r\n', '']],
  ['TRACE', 405, ['TRACE', '', 'Host: a\r\n', '']],
  ['a method in small letters', 400, ['get', '', 'Host: a\r\n', '']],
  ['an expectation that nobody knows', 417, post('Expect: 200-ok\r\nContent-Length: 2\r\n', '{}')],
  [
    'an expectation and one more',
    417,
    post('Expect: 100-continue, x\r\nContent-Length: 2\r\n', '{}'),
  ],
  ['chunks in HTTP/1.0', 400, post(chunked, '0\r\n\r\n'), 'HTTP/1.0'],
  ['HTTP/2.0', 400, get('Host: a\r\n'), 'HTTP/2.0'],
  ['HTTP/1.2', 400, get('Host: a\r\n'), 'HTTP/1.2'],
  ['HTTP/0.9', 400, get('Host: a\r\n'), 'HTTP/0.9'],
];

describe.each([...proxyPlaces, '/react', 'management'] as const)('at %s', (name) => {
  const place = (): Place => places[name];

  it.each(hostile)(
    '%s is refused, and nothing after it is served',
    async (_, status, [method, suffix, headers, body], version = 'HTTP/1.1') => {
      const { path, headers: keys } = place();
      const start = `${method} ${path}${suffix} ${version}\r\n`;
      const text = await talk(place(), `${start}${headers}${keys}\r\n${body}`, behind(place()));
      const [answer, ...more] = answersIn(text);
      expect([answer?.status, more]).toEqual([status, []]);
      expect(answer?.head).toMatch(/^connection: close\r$/im);
      expect(answer?.head).toMatch(/^svc-trace-id: \S+\r$/im);
      const told = JSON.parse(answer?.body ?? '') as { proxy_error?: object };
      expect(told.proxy_error ?? told).toMatchObject({
        status,
        code: status === 405 ? 'method_not_allowed' : 'invalid_request',
      });
    },
  );

  it('no smuggled request was served', nothingWasSmuggled);
});

describe.each(['/proxy', 'a tunnel', 'a tunnel without TLS'] as const)('at %s', (name) => {
  it.each([
    ['an absolute target', 'GET http://a/proxy/raw', 400],
    ['an absolute target of ours', `GET ${baseUrl}/proxy/raw`, 400],
    ['an asterisk', 'OPTIONS *', 400],
    ['a target without slash', 'GET proxy', 400],
    ['CONNECT', 'CONNECT a:443', 405],
    ['CONNECT to a path', 'CONNECT /proxy/raw', 405],
    ['the preface of HTTP/2', 'PRI *', 400],
  ])('%s is refused, and nothing behind it is served', async (_, start, status) => {
    const place = places[name];
    const text = await talk(place, `${start} HTTP/1.1\r\nHost: a\r\n\r\n`, behind(place));
    expect(answersIn(text).map((answer) => answer.status)).toEqual([status]);
    await nothingWasSmuggled();
  });
});

it.each(proxyPlaces)('Connection that names Host is refused at %s', async (name) => {
  const { path, headers } = places[name];
  const named = 'Connection: host\r\n';
  const text = await talk(
    places[name],
    `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}${named}\r\n`,
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  );
  expect(answersIn(text)[0]?.status).toBe(400);
  expect(destination.received).toEqual([]);
});

it.each([
  ['SVC-API-KEY twice', '/proxy/raw', 'SVC-API-KEY: x\r\n'],
  ['SVC-API-KEY twice', '/reactors/x/react', 'SVC-API-KEY: x\r\n'],
  ['SVC-API-KEY twice', '/reactor-formulas', 'SVC-API-KEY: x\r\n'],
  ['SVC-IDEMPOTENCY-KEY twice', '/reactor-formulas', 'SVC-IDEMPOTENCY-KEY: a\r\n'.repeat(2)],
  ['SVC-PROXY-KEY twice', '/proxy/raw', 'SVC-PROXY-KEY: x\r\n'],
  ['SVC-PROXY-KEY in header and query', '/proxy/raw?svc-proxy-key=x', ''],
  ['svc-proxy-key twice in the query', '/proxy/raw?svc-proxy-key=x&svc-proxy-key=x', ''],
  ['Connection that names Content-Type', '/reactor-formulas', 'Connection: content-type\r\n'],
  ['Connection that names a key', '/reactor-formulas', 'Connection: x, SVC-API-KEY\r\n'],
])('%s is refused at %s', async (_, path, header) => {
  const { headers: keys } = places['/proxy'];
  const text = await talk(
    baseUrl,
    `POST ${path} HTTP/1.1\r\nHost: a\r\n${keys}${header}\r\n`,
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  );
  expect(answersIn(text)[0]?.status).toBe(400);
  expect(destination.received).toEqual([]);
});

it.each([
  ['Trailer', 'x'],
  ['Trailer', 'content-length, transfer-encoding, ,'],
  ['Connection', ',, ,;'],
  ['Connection', 'close, trailer, te, x-x'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c, \x80'],
  ['TE', 'trailers, deflate;q=0.5'],
  ['Expect', '\x80'],
  ['Keep-Alive', 'timeout=-1'],
  ['Proxy-Connection', 'keep-alive'],
  ['Proxy-Authorization', 'x'],
])('%s: %s harms nobody', async (name, value) => {
  for (const place of Object.values(places)) {
    const { path, headers } = place;
    const start = `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}${name}: ${value}\r\n`;
    await talk(
      place,
      `${start}${chunked}Connection: close\r\n\r\n2\r\n{}\r\n0\r\nX-Trailer: x\r\n\r\n`,
    );
    await talk(place, `${start}Connection: upgrade, close\r\nContent-Length: 2\r\n\r\n{}`);
  }
  expect((await call('GET', `${baseUrl}/health/live`)).status).toBe(200);
  const seen = destination.received.map(({ headers }) => headers[name.toLowerCase()]);
  expect(seen).not.toContain(value);
  destination.received.length = 0;
});

it('bytes that are refused do not overtake the answer to those before them, also through TLS', async () => {
  const place = places['a tunnel'];
  const [, suffix, headers, body] = post(chunked, `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`);
  const ask = async (): Promise<number | undefined> => {
    const start = `POST ${place.path}${suffix} HTTP/1.1\r\n`;
    const text = await talk(place, `${start}${headers}\r\n${body}`, behind(place));
    return answersIn(text)[0]?.status;
  };
  const askOften = async (): Promise<(number | undefined)[]> => {
    const statuses = [];
    for (let n = 0; n < 10; n += 1) statuses.push(await ask());
    return statuses;
  };
  const statuses = (await Promise.all(Array.from({ length: 8 }, askOften))).flat();
  expect(new Set(statuses)).toEqual(new Set([413]));
});
