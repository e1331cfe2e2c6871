import { runningProduct } from './product';
import { answersIn, proxyPlaces, rawPlaces, talk, type Place } from './raw-socket';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
let destination: Receiver;
let places: Awaited<ReturnType<typeof rawPlaces>>;

beforeAll(async () => {
  destination = await startReceiver();
  places = await rawPlaces(product, destination.url);
});
afterAll(() => destination.close());

const chunked = 'Transfer-Encoding: chunked\r\n';

describe.each(proxyPlaces)('at %s an unusual but unambiguous request is served', (name) => {
  const last = 'Connection: close\r\n';
  const at = (method: string, headers: string, body = ''): string => {
    const { path, headers: keys } = places[name];
    return `${method} ${path} HTTP/1.1\r\nHost: a\r\n${keys}${headers}\r\n${body}`;
  };

  afterEach(() => {
    destination.received.length = 0;
  });

  it.each<[string, string, () => string[], string?]>([
    [
      'chunk extensions',
      'ab',
      () => [at('POST', chunked + last, '1;x=1\r\na\r\n1;y="z"\r\nb\r\n0\r\n\r\n')],
    ],
    ['trailers', 'ab', () => [at('POST', chunked + last, '2\r\nab\r\n0\r\nX-Trailer: x\r\n\r\n')]],
    [
      'capitals',
      'ab',
      () => [at('POST', `TRANSFER-ENCODING: Chunked\r\n${last}`, '2\r\nab\r\n0\r\n\r\n')],
    ],
    [
      'chunk sizes with zeros and capitals',
      'abcdefghij',
      () => [at('PUT', chunked + last, '000A\r\nabcdefghij\r\n00\r\n\r\n')],
    ],
    ['a DELETE with chunks', 'ab', () => [at('DELETE', chunked + last, '2\r\nab\r\n0\r\n\r\n')]],
    ['an OPTIONS with chunks', 'ab', () => [at('OPTIONS', chunked + last, '2\r\nab\r\n0\r\n\r\n')]],
    ['a GET with a body', 'ab', () => [at('GET', `Content-Length: 2\r\n${last}`, 'ab')]],
    ['a body of nothing', '', () => [at('POST', `Content-Length: 0\r\n${last}`)]],
    ['chunks of nothing', '', () => [at('POST', chunked + last, '0\r\n\r\n')]],
    ['no body and no length', '', () => [at('POST', last)]],
    ['an empty line before', '', () => ['\r\n', at('GET', last)]],
    ['one byte at a time', 'ab', () => [...at('POST', `Content-Length: 2\r\n${last}`, 'ab')]],
    [
      'HTTP/1.0',
      'ab',
      () => [at('POST', 'Content-Length: 2\r\n', 'ab').replace('HTTP/1.1\r\nHost: a', 'HTTP/1.0')],
    ],
    [
      'an offer of h2c',
      'ab',
      () => [
        at(
          'POST',
          `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 2\r\n`,
          'ab',
        ),
      ],
    ],
    [
      '100-Continue',
      'ab',
      () => [at('POST', `Expect: 100-Continue\r\nContent-Length: 2\r\n${last}`, 'ab')],
    ],
  ])('%s', async (_, body, parts) => {
    const answers = answersIn(await talk(places[name], ...parts()));
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(destination.received.map((request) => request.body)).toEqual([body]);
  });

  it('pipelined requests, with answers in their order', async () => {
    const climbing = at('GET', '').replace(places[name].path, `${places[name].path}/%2e%2e/b`);
    const requests = [at('POST', 'Content-Length: 2\r\n', '{}'), climbing, at('GET', last)];
    const answers = answersIn(await talk(places[name], requests.join('')));
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 200]);
  });

  it('an offer of h2c, without reading what follows it as a request', async () => {
    const offer = at('GET', 'Connection: Upgrade\r\nUpgrade: h2c\r\n');
    expect(
      answersIn(await talk(places[name], offer + at('GET', '') + at('GET', last))),
    ).toHaveLength(1);
    expect(destination.received).toHaveLength(1);
  });
});

it('pipelined requests to a proxy and to the management API get their answers in their order', async () => {
  const get = (path: string, { headers }: Place): string =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
  const { management, '/proxy': proxy } = places;
  const text = await talk(
    proxy,
    get(proxy.path, proxy) +
      get('/reactor-formulas', management) +
      get(proxy.path, proxy) +
      get('/nowhere', management) +
      get(proxy.path, { ...proxy, headers: `${proxy.headers}Connection: close\r\n` }),
  );
  expect(answersIn(text).map(({ status }) => status)).toEqual([200, 200, 200, 404, 200]);
});
