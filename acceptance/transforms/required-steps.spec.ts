import { gzipSync } from 'node:zlib';
import { create, runningProduct } from '../product';
import { talk } from '../raw-socket';
import { Workshop } from './transforming';

const product = runningProduct();
const asJson = { 'content-type': 'application/json' };
const number = '4242424242424242';
/** The card stands where no step looks for it. */
const renamed = JSON.stringify({ payment_card: { number } });
const large = JSON.stringify({ payment_card: { number }, filling: 'x'.repeat(2 * 1024 * 1024) });
const mask = {
  type: 'mask',
  options: { path: '$.card.number', expression: '{{ @ | reveal_last: 4 }}', required: true },
};
const echo = 'return { headers: args.headers, body: args.body };';

let shop: Workshop;
beforeAll(async () => {
  shop = await Workshop.open(product);
});
afterEach(() => shop.reset());
afterAll(() => shop.close());

describe('a required step sends nothing of a request', () => {
  const cases: [string, number, { method?: string; headers?: object; body?: string | Buffer }][] = [
    ['without a body', 400, { method: 'GET' }],
    ['of HEAD', 400, { method: 'HEAD' }],
    ['of OPTIONS', 400, { method: 'OPTIONS' }],
    ['with an empty body', 400, { body: '', headers: asJson }],
    ['that lacks the member', 400, { body: renamed, headers: asJson }],
    ['that is null', 400, { body: 'null', headers: asJson }],
    ['that is a list', 400, { body: `[${renamed}]`, headers: asJson }],
    ['that is broken JSON', 400, { body: renamed.slice(0, -1), headers: asJson }],
    ['above 1 MiB', 400, { body: large, headers: asJson }],
    ['that is text', 415, { body: renamed, headers: { 'content-type': 'text/plain' } }],
    ['of no type', 415, { body: Buffer.from(renamed) }],
    [
      'that is a form',
      415,
      {
        body: `number=${number}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ],
    [
      'that is packed',
      400,
      { body: gzipSync(renamed), headers: { ...asJson, 'content-encoding': 'gzip' } },
    ],
    [
      'that is packed in an unknown way',
      415,
      { body: gzipSync(renamed), headers: { ...asJson, 'content-encoding': 'zip' } },
    ],
  ];

  it.each(cases)('%s → %d', async (_, status, call) => {
    for (const request of [{}, { request: echo }]) {
      for (const anonymous of [false, true]) {
        const more = { request_transforms: [mask], require_auth: !anonymous };
        const proxy = await shop.proxy(request, more);
        const { headers = {}, ...sent } = call;
        const answer = await proxy.call({ ...sent, headers: { ...headers }, anonymous });
        expect(answer.status).toBe(status);
        expect(answer.text).not.toContain('4242');
        expect(shop.destination.received).toEqual([]);
      }
    }
  });

  it('whose value a token fills in elsewhere, or that lacks the value to spare', async () => {
    const { id } = await create(product, '/tokens', { data: { number } }, product.privateKey);
    const spare = {
      type: 'detokenize',
      options: { path: '$.template', enabled: false, required: true },
    };
    for (const step of [mask, spare]) {
      const proxy = await shop.proxy({}, { request_transforms: [step] });
      const answer = await proxy.call({ body: { payment_card: `{{ ${id} }}` } });
      expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(answer.text).not.toContain('4242');
    }
    expect(shop.destination.received).toEqual([]);
  });

  it('that arrives empty in chunks, or asks for a WebSocket', async () => {
    const proxy = await shop.proxy({}, { request_transforms: [mask] });
    const head = `Host: a\r\nSVC-API-KEY: ${product.privateKey}\r\nSVC-PROXY-KEY: ${proxy.key}\r\n`;
    for (const request of [
      `POST /proxy HTTP/1.1\r\n${head}Connection: close\r\nContent-Type: application/json\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      `GET /proxy HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    ]) {
      expect(await talk(product.baseUrl, request)).toMatch(/^HTTP\/1\.1 400 /);
    }
    expect(shop.destination.received).toEqual([]);
  });
});

describe('a required step passes on nothing of an answer', () => {
  const cases: [string, number, Record<string, string>, string | Buffer][] = [
    ['without a body', 204, {}, ''],
    ['with an empty body', 200, asJson, ''],
    ['that lacks the member', 200, asJson, renamed],
    ['that is an error', 500, asJson, renamed],
    ['that is a redirect', 302, { ...asJson, location: 'https://a.example' }, renamed],
    ['above 1 MiB', 200, asJson, large],
    ['that is text', 200, { 'content-type': 'text/plain' }, renamed],
    ['of no type', 200, {}, renamed],
    ['that is packed', 200, { ...asJson, 'content-encoding': 'gzip' }, gzipSync(renamed)],
    ['that is packed otherwise', 200, { ...asJson, 'content-encoding': 'zip' }, gzipSync(renamed)],
    ['that is a part', 206, asJson, renamed],
  ];

  it.each(cases)('%s', async (_, status, headers, body) => {
    shop.answer = (res) => res.writeHead(status, { ...headers, 'x-card': 'kept' }).end(body);
    for (const code of [{}, { response: echo }]) {
      const proxy = await shop.proxy(code, { response_transforms: [mask] });
      const answer = await proxy.call({ body: {} });
      expect(answer.headers.get('x-card')).toBeNull();
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(answer.headers.get('svc-proxy-destination-status')).toBe(String(status));
      expect(answer.text).toContain('proxy_error');
      expect(answer.text).not.toContain('4242');
    }
  });

  it('to HEAD, or that code has emptied', async () => {
    shop.answer = (res) => res.writeHead(200, asJson).end(JSON.stringify({ card: { number } }));
    const plain = await shop.proxy({}, { response_transforms: [mask] });
    expect((await plain.call({ method: 'HEAD' })).status).toBe(502);
    for (const response of ['return { headers: {} };', 'return { body: "4242" };']) {
      const proxy = await shop.proxy({ response }, { response_transforms: [mask] });
      const answer = await proxy.call({ body: {} });
      expect(answer).toMatchObject({ status: 502, code: 'destination_answer_invalid' });
      expect(answer.text).not.toContain('4242');
    }
  });
});
