import { runningProduct } from './product';
import { answersIn, rawPlaces, talk } from './raw-socket';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { baseUrl } = product;
let destination: Receiver;
let places: Awaited<ReturnType<typeof rawPlaces>>;

beforeAll(async () => {
  destination = await startReceiver();
  places = await rawPlaces(product, destination.url);
});
afterAll(() => destination.close());

const chunked = 'Transfer-Encoding: chunked\r\n';

describe('an unusual but unambiguous request is served', () => {
  const last = 'Connection: close\r\n';
  const at = (method: string, headers: string, body = ''): string =>
    `${method} /proxy/raw HTTP/1.1\r\nHost: a\r\n${places['/proxy'].headers}${headers}\r\n${body}`;

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
    const answers = answersIn(await talk(baseUrl, ...parts()));
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(destination.received.map((request) => request.body)).toEqual([body]);
  });

  it('pipelined requests, with answers in their order', async () => {
    const list = `GET /reactor-formulas HTTP/1.1\r\nHost: a\r\n${places.management.headers}\r\n`;
    const text = await talk(
      baseUrl,
      at('POST', 'Content-Length: 2\r\n', '{}') +
        list +
        at('GET', '') +
        `GET /nowhere HTTP/1.1\r\nHost: a\r\n${places.management.headers}\r\n` +
        at('GET', last),
    );
    const answers = answersIn(text);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 200]);
  });

  it('an offer of h2c, without reading what follows it as a request', async () => {
    const offer = at('GET', 'Connection: Upgrade\r\nUpgrade: h2c\r\n');
    expect(answersIn(await talk(baseUrl, offer + at('GET', '') + at('GET', last)))).toHaveLength(1);
    expect(destination.received).toHaveLength(1);
  });
});
