import { createServer, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { runningProduct } from '../product';
import { Workshop, type Answer, type TransformingProxy } from './transforming';

const product = runningProduct();
const bytesMax = 10 * 1024 * 1024;
const asJson = { 'content-type': 'application/json' };
const echo = `return { headers: args.headers, body: args.body };`;
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const bomb = gzipSync(Buffer.alloc(bytesMax + 1, ' '));
/** A document of exactly this many bytes. */
const documentOf = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;

/** Code that returns the body. */
const obey = `return eval('(' + args.body.code + ')');`;

let shop: Workshop;
let healthy: TransformingProxy;
let requesting: TransformingProxy;
let responding: TransformingProxy;

beforeAll(async () => {
  shop = await Workshop.open(product);
  healthy = await shop.proxy({ request: echo, response: echo });
  requesting = await shop.proxy({ request: obey });
  responding = await shop.proxy({ response: obey });
});
afterEach(async () => {
  shop.reset();
  expect(await healthy.call({ body: { still: 'there' } })).toMatchObject({ status: 200 });
  shop.reset();
});
afterAll(() => shop.close());

function refused(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.code }).toEqual({ status, code });
  expect(Object.keys(JSON.parse(answer.text) as object)).toEqual(['proxy_error']);
}

describe('a body under a request transform that is', () => {
  it.each([
    ['a bomb', 'application/json', 'gzip', bomb, 413, 'payload_too_large'],
    [
      'a byte too large',
      'application/json',
      '',
      documentOf(bytesMax + 1),
      413,
      'payload_too_large',
    ],
    [
      'a byte too large as text',
      'text/plain',
      '',
      'x'.repeat(bytesMax + 1),
      413,
      'payload_too_large',
    ],
    ['too long in JSON', 'text/plain', '', '\u0001'.repeat(bytesMax), 413, 'payload_too_large'],
    ['nested too deeply', 'application/json', '', nested(65), 400, 'invalid_json'],
    ['nested a million times', 'application/json', '', nested(1_000_000), 400, 'invalid_json'],
    ['too many values', 'application/json', '', `[${'0,'.repeat(100_000)}0]`, 400, 'invalid_json'],
    [
      'too many values of a form',
      'application/x-www-form-urlencoded',
      '',
      'a=&'.repeat(100_001),
      400,
      'invalid_request',
    ],
    [
      'a packed form of five million fields',
      'application/x-www-form-urlencoded',
      'gzip',
      gzipSync('a&'.repeat(5 * 1024 * 1024)),
      400,
      'invalid_request',
    ],
    ['no JSON', 'application/json', '', '{"a":', 400, 'invalid_json'],
    ['a member twice', 'application/json', '', '{"a":1,"a":2}', 400, 'invalid_json'],
    ['no UTF-8', 'application/json', '', Buffer.from([0x22, 0xff, 0x22]), 400, 'invalid_request'],
    ['not packed', 'application/json', 'gzip', '{}', 400, 'invalid_request'],
    [
      'packed and cut off',
      'application/json',
      'gzip',
      gzipSync('{"a":1}').subarray(0, 20),
      400,
      'invalid_request',
    ],
    ['packed twice', 'application/json', 'gzip, gzip', '{}', 415, 'unsupported_media_type'],
    ['packed in another way', 'application/json', 'zstd', '{}', 415, 'unsupported_media_type'],
    ['a picture', 'image/png', '', 'PNG', 415, 'unsupported_media_type'],
    [
      'in another character set',
      'text/plain; charset=utf-16',
      '',
      'x',
      415,
      'unsupported_media_type',
    ],
  ])('%s is refused, and nothing is forwarded', async (_, type, encoding, body, status, code) => {
    const headers = {
      'content-type': type,
      ...(encoding === '' ? {} : { 'content-encoding': encoding }),
    };
    refused(await healthy.call({ headers, body }), status, code);
    expect(shop.destination.received).toEqual([]);
  });

  it('as large as allowed passes both transforms', async () => {
    const text = documentOf(bytesMax);
    shop.answer = (res) => res.writeHead(200, asJson).end(text);
    const answer = await healthy.call({ headers: asJson, body: text });
    expect([answer.status, answer.text === text]).toEqual([200, true]);
    expect(shop.destination.received[0]?.body === text).toBe(true);
  });
});

describe('code that', () => {
  const unusable: [string, string, number, string][] = [
    [
      'ends a header',
      `{ headers: { 'X-A': 'a\\r\\nX-B: b' }, body: {} }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'puts a NUL into a header',
      `{ headers: { 'X-A': 'a\\0' }, body: {} }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'puts what is not Latin-1 into a header',
      `{ headers: { 'X-A': '€' }, body: {} }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'ends a header by its name',
      `{ headers: { 'X-A: 1\\r\\nX-B': 'b' }, body: {} }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'names a header with nothing',
      `{ headers: { '': 'b' }, body: {} }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'returns a header of objects',
      `{ headers: { a: { b: 1 } }, body: {} }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'returns 300 headers',
      `{ headers: Object.fromEntries(Array.from({ length: 300 }, (_, n) => ['x' + n, '']))}`,
      500,
      'invalid_reactor_result',
    ],
    [
      'returns a header of 100 KB',
      `{ headers: { a: 'x'.repeat(100000) } }`,
      500,
      'invalid_reactor_result',
    ],
    ['returns headers as text', `{ headers: 'x', body: {} }`, 500, 'invalid_reactor_result'],
    ['returns headers as a list', `{ headers: ['x'], body: {} }`, 500, 'invalid_reactor_result'],
    ['returns nothing', `undefined`, 500, 'invalid_reactor_result'],
    ['returns an empty object', `{}`, 500, 'invalid_reactor_result'],
    ['returns what a reactor returns', `{ raw: { a: 1 } }`, 500, 'invalid_reactor_result'],
    ['returns null', `null`, 500, 'invalid_reactor_result'],
    ['returns a number', `7`, 500, 'invalid_reactor_result'],
    ['returns a list', `[{ headers: {} }]`, 500, 'invalid_reactor_result'],
    [
      'returns what refers to itself',
      `(() => { const a = { headers: {} }; a.body = a; return a; })()`,
      500,
      'invalid_reactor_result',
    ],
    ['returns a body that is a number', `{ headers: {}, body: 7 }`, 500, 'invalid_reactor_result'],
    [
      'returns a form with objects in it',
      `{ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: { a: { b: 1 } } }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'returns a status of its own',
      `{ status: 99, headers: {}, body: {} }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'returns a status as text',
      `{ status: '200', headers: {}, body: {} }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'returns a byte too much',
      `{ headers: {}, body: 'x'.repeat(${bytesMax + 1}) }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'returns twice too much',
      `{ headers: {}, body: 'x'.repeat(${2 * bytesMax}) }`,
      500,
      'invalid_reactor_result',
    ],
    [
      'returns two content types',
      `{ headers: { 'content-type': 'text/plain', 'Content-Type': 'text/html' }, body: '' }`,
      500,
      'invalid_reactor_result',
    ],
    ['may not end its process', `process.kill(process.pid, 9)`, 500, 'reactor_error'],
  ];

  it.each(unusable)('%s is refused on both sides', async (_, returned, status, code) => {
    refused(await requesting.call({ body: { code: returned } }), status, code);
    expect(shop.destination.received).toEqual([]);
    shop.answer = (res) => res.writeHead(200, asJson).end(JSON.stringify({ code: returned }));
    const answer = await responding.call({ body: {} });
    refused(answer, status, code);
    expect(answer.headers.get('svc-proxy-destination-status')).toBe('200');
  });

  it('returns a status alone answers with it, and sends no request', async () => {
    const returned = `{ status: 202 }`;
    refused(await requesting.call({ body: { code: returned } }), 500, 'invalid_reactor_result');
    expect(shop.destination.received).toEqual([]);
    shop.answer = (res) => res.writeHead(200, asJson).end(JSON.stringify({ code: returned }));
    expect(await responding.call({ body: {} })).toMatchObject({ status: 202, text: '' });
  });

  it.each([
    ['a status that is none', `{ status: 1000 }`, 500, 'invalid_reactor_result'],
    [
      'a header that ends',
      `{ status: 200, headers: { 'X-A': 'a\\nb' } }`,
      500,
      'invalid_reactor_result',
    ],
    ['a body that refers to itself', `{ status: 200, body: loop }`, 500, 'invalid_reactor_result'],
  ])('throws an answer with %s is refused', async (_, thrown, status, code) => {
    const proxy = await shop.proxy({
      request: `
        const { CustomHttpResponseError } = require('@svc/reactor-errors');
        const loop = {}; loop.loop = loop;
        throw new CustomHttpResponseError(${thrown});`,
    });
    refused(await proxy.call({ body: {} }), status, code);
    expect(shop.destination.received).toEqual([]);
  });

  it('takes all memory is answered with 500', async () => {
    const proxy = await shop.proxy({
      request: `const all = []; for (;;) all.push(Buffer.alloc(16 * 1024 * 1024, 1), new Array(1e6).fill(1.5));`,
    });
    refused(await proxy.call({ body: {} }), 500, 'reactor_crashed');
  });

  it('exports no function is answered with 422', async () => {
    const proxy = await shop.proxy({}, { request_transform: { code: 'module.exports = 7;' } });
    refused(await proxy.call({ body: {} }), 422, 'invalid_code');
  });

  it('never returns is answered with 504 on both sides', async () => {
    const proxies = await Promise.all([
      shop.proxy({ request: `await new Promise(() => {});` }),
      shop.proxy({ response: `for (;;);` }),
    ]);
    const answers = await Promise.all(proxies.map((proxy) => proxy.call({ body: {} })));
    for (const answer of answers) refused(answer, 504, 'reactor_timeout');
  });
});

describe('a destination under a response transform that answers', () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
  const bytes: [string, string | Buffer, number, string][] = [
    [
      'less than it promised',
      `${head}Content-Length: 100\r\n\r\n{"a":1}`,
      502,
      'destination_unreachable',
    ],
    [
      'chunks that break off',
      `${head}Transfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n`,
      502,
      'destination_unreachable',
    ],
    [
      'chunks that are none',
      `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
      502,
      'destination_unreachable',
    ],
    ['broken JSON', `${head}\r\n{"a":`, 502, 'destination_answer_invalid'],
    ['JSON nested too deeply', `${head}\r\n${nested(65)}`, 502, 'destination_answer_invalid'],
    ['what is no UTF-8', `${head}\r\n"\xff"`, 502, 'destination_answer_invalid'],
    [
      'what is not packed as it says',
      `${head}Content-Encoding: gzip\r\n\r\n{}`,
      502,
      'destination_answer_invalid',
    ],
    [
      'a bomb',
      Buffer.concat([Buffer.from(`${head}Content-Encoding: gzip\r\n\r\n`), bomb]),
      502,
      'destination_answer_invalid',
    ],
    [
      'a byte too much',
      `${head}\r\n${documentOf(bytesMax + 1)}`,
      502,
      'destination_answer_invalid',
    ],
    [
      'a text that is too long in JSON',
      `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n${'\u0001'.repeat(bytesMax)}`,
      502,
      'destination_answer_invalid',
    ],
    [
      'a form that is too long in JSON',
      `HTTP/1.1 200 OK\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=${'\u0001'.repeat(bytesMax - 2)}`,
      502,
      'destination_answer_invalid',
    ],
    [
      'a picture',
      'HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nPNG',
      502,
      'destination_answer_invalid',
    ],
    [
      'in a character set of its own',
      'HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-16\r\n\r\nx',
      502,
      'destination_answer_invalid',
    ],
    [
      'in a coding that nobody asked for',
      `${head}Content-Encoding: zstd\r\n\r\n{}`,
      502,
      'destination_answer_invalid',
    ],
    [
      'a part',
      `${head.replace('200 OK', '206 Partial Content')}\r\n{}`,
      502,
      'destination_answer_invalid',
    ],
  ];

  it.each(bytes)('%s is refused', async (_, answered, status, code) => {
    const whole = typeof answered === 'string' ? Buffer.from(answered, 'latin1') : answered;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(whole));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const proxy = await shop.proxy(
        { response: echo },
        { destination_url: `http://127.0.0.1:${port}` },
      );
      const answer = await proxy.call({ body: {} });
      refused(answer, status, code);
      const [answeredStatus = ''] = /\d{3}/.exec(whole.toString('latin1', 0, 12)) ?? [];
      expect(answer.headers.get('svc-proxy-destination-status')).toBe(answeredStatus);
      if (code === 'destination_answer_invalid') {
        expect(answer.detail).toContain(`; the request was delivered (${answeredStatus}).`);
      }
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('without end is refused and disconnected', async () => {
    let hungUp: (() => void) | undefined;
    const left = new Promise<void>((resolve) => (hungUp = resolve));
    shop.answer = (res) => {
      res.on('close', () => hungUp?.()).writeHead(200, asJson);
      const more = (): void => {
        while (!res.destroyed && res.write(' '.repeat(64 * 1024)));
        if (!res.destroyed) res.once('drain', more);
      };
      more();
    };
    const proxy = await shop.proxy({ response: echo });
    refused(await proxy.call({ body: {} }), 502, 'destination_answer_invalid');
    await left;
  });
});
