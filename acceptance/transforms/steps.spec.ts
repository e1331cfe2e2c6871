import { createServer, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { call, create, runningProduct } from '../product';
import { talk } from '../raw-socket';
import { Workshop } from './transforming';

const product = runningProduct();
const asJson = { 'content-type': 'application/json' };
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
const mask = {
  type: 'mask',
  options: { path: '$.card.number', expression: '{{ $.card.number | reveal_last: 4 }}' },
};
const tokenize = { type: 'tokenize', options: { path: '$.card', token: { type: 'card' } } };
const header = (type: string, name: string, value?: string) => ({
  type,
  options: { location: 'header', name, ...(value === undefined ? {} : { value }) },
});
const query = (type: string, name: string, value?: string) => ({
  type,
  options: { location: 'query', name, ...(value === undefined ? {} : { value }) },
});
const body = (type: string, path: string, value?: unknown) => ({
  type,
  options: { location: 'body', path, ...(value === undefined ? {} : { value }) },
});

let shop: Workshop;
let application: { application: { id: string } };

beforeAll(async () => {
  shop = await Workshop.open(product);
  application = { application: { id: shop.applicationId } };
});
afterEach(() => shop.reset());
afterAll(() => shop.close());

describe('request steps', () => {
  it('mask, append and remove, and leave every other byte of a number as it was', async () => {
    const proxy = await shop.proxy(
      {},
      {
        request_transforms: [
          mask,
          header('append', 'X-Mine', 'yes'),
          header('remove', 'x-theirs'),
          query('append', 'a b', 'c&d'),
          query('remove', 'gone'),
          body('append', '$.card.brand', 'visa'),
          body('remove', '$.items[*].secret'),
        ],
      },
    );
    await proxy.call({
      path: '/x?gone=1&kept=%7e',
      headers: { ...asJson, 'X-Theirs': 'no' },
      body: '{"id":12345678901234567890,"price":10.00,"card":{"number":"4242424242424242"},"items":[{"secret":1,"n":1}]}',
    });
    const { url, headers, body: text } = shop.forwarded;
    expect(url).toBe('/x?kept=%7e&a%20b=c%26d');
    expect([headers['x-mine'], headers['x-theirs']]).toEqual(['yes', undefined]);
    expect(text).toMatch(
      /^\{"id":12345678901234567890,"price":10\.00,"card":\{"number":"[^"]*4242","brand":"visa"\},"items":\[\{"n":1\}\]\}$/,
    );
    expect(text).not.toContain('42424242');
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
  });

  it('tokenize the body of an anonymous caller, as the application of the proxy', async () => {
    const proxy = await shop.proxy(
      {},
      { ...application, require_auth: false, request_transforms: [tokenize] },
    );
    await proxy.call({ anonymous: true, body: { card } });
    const { card: id } = JSON.parse(shop.forwarded.body) as { card: string };
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const token = await call('GET', `${product.baseUrl}/tokens/${id}`, { key: product.privateKey });
    expect(token.body).toMatchObject({ id, type: 'card', data: { number: 'XXXXXXXXXXXX4242' } });
  });

  it('leave an expression alone where a step says so, and fill in the others', async () => {
    const token = await create(
      product,
      '/tokens',
      { type: 'token', data: 'plain' },
      product.privateKey,
    );
    const expression = `{{${token.id}}}`;
    const spare = { type: 'detokenize', options: { path: '$.spared', enabled: false } };
    const proxy = await shop.proxy({}, { request_transforms: [spare] });
    await proxy.call({ body: { spared: { deep: expression }, filled: expression } });
    expect(JSON.parse(shop.forwarded.body)).toEqual({
      spared: { deep: expression },
      filled: 'plain',
    });
  });

  it('tokenize with type token where no type is given', async () => {
    const step = { type: 'tokenize', options: { path: '$.a', token: { type: null } } };
    const proxy = await shop.proxy({}, { ...application, request_transforms: [step] });
    await proxy.call({ body: { a: 'x' } });
    expect(shop.forwarded.body).toMatch(/^\{"a":"[0-9a-f-]{36}"\}$/);
  });

  it('replace the content type that they append', async () => {
    const step = header('append', 'Content-Type', 'text/plain');
    const proxy = await shop.proxy({}, { request_transforms: [step] });
    await proxy.call({ body: {} });
    expect(shop.forwarded.headers['content-type']).toBe('text/plain');
    expect(shop.forwarded.rawHeaders.filter((name) => /^content-type$/i.test(name))).toHaveLength(
      1,
    );
  });

  it('pass on an empty body that arrives in chunks', async () => {
    const spare = { type: 'detokenize', options: { path: '$.a', enabled: false } };
    const proxy = await shop.proxy({}, { request_transforms: [spare] });
    const answer = await talk(
      product.baseUrl,
      `POST /proxy HTTP/1.1\r\nHost: a\r\nConnection: close\r\nSVC-API-KEY: ${product.privateKey}\r\n` +
        `SVC-PROXY-KEY: ${proxy.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    expect(answer).toContain('HTTP/1.1 200 OK');
  });

  it('and code accept a body of 9 MiB, both ways', async () => {
    const echo = `return { headers: args.headers, body: args.body };`;
    const steps = { request_transforms: [mask], response_transforms: [mask] };
    const proxy = await shop.proxy({ request: echo, response: echo }, steps);
    const text = JSON.stringify({ a: 'x'.repeat(9 * 1024 * 1024) });
    shop.answer = (res) => res.writeHead(200, asJson).end(text);
    const answer = await proxy.call({ headers: asJson, body: text });
    expect([answer.status, answer.text === text]).toEqual([200, true]);
  });

  it('run before the code, which sees only their result', async () => {
    const proxy = await shop.proxy(
      { request: `return { headers: {}, body: { seen: args.body, raw: args.raw_body ?? null } };` },
      { request_transforms: [mask] },
    );
    await proxy.call({ body: { card: { number: card.number } } });
    expect(shop.forwarded.body).not.toContain('42424242');
    expect(JSON.parse(shop.forwarded.body)).toMatchObject({ raw: null });
  });

  it.each([
    ['append to it', [body('append', '$.seen', true)]],
    [
      'leave its expressions alone',
      [{ type: 'detokenize', options: { path: '$.spared', enabled: false } }],
    ],
    ['change headers', [header('append', 'X-Mine', 'yes'), header('remove', 'X-Theirs')]],
  ])('that %s show code the body as it came, for its signature', async (_, steps) => {
    const proxy = await shop.proxy(
      { request: `return { headers: {}, body: { raw: args.raw_body } };` },
      { request_transforms: steps },
    );
    const text = '{ "amount": 10.00, "spared": "x" }';
    await proxy.call({ headers: asJson, body: text });
    expect(JSON.parse(shop.forwarded.body)).toEqual({ raw: text });
  });

  it.each([
    ['tokenize', tokenize],
    ['remove', body('remove', '$.card')],
  ])('that %s a value keep the body as it came from the code', async (_, step) => {
    const proxy = await shop.proxy(
      { request: `return { headers: {}, body: { raw: args.raw_body ?? null } };` },
      { ...application, request_transforms: [step] },
    );
    await proxy.call({ body: { card } });
    expect(JSON.parse(shop.forwarded.body)).toEqual({ raw: null });
  });

  it('that touch headers alone pass on a body of any kind and length', async () => {
    const proxy = await shop.proxy({}, { request_transforms: [header('append', 'X-Mine', 'yes')] });
    const large = Buffer.alloc(11 * 1024 * 1024, 'x');
    const answer = await proxy.call({ headers: { 'content-type': 'image/png' }, body: large });
    expect(answer.status).toBe(200);
    expect([shop.forwarded.body.length, shop.forwarded.headers['x-mine']]).toEqual([
      large.length,
      'yes',
    ]);
  });

  it('find values in packed bodies, and pass on a body without a match', async () => {
    const proxy = await shop.proxy({}, { request_transforms: [mask, body('remove', '$.a')] });
    await proxy.call({
      headers: { ...asJson, 'content-encoding': 'gzip' },
      body: gzipSync('{"a":1,"b":2}'),
    });
    expect(shop.forwarded.body).toBe('{"b":2}');
    expect(shop.forwarded.headers['content-encoding']).toBeUndefined();
    await proxy.call({ method: 'GET' });
    expect(shop.destination.received).toHaveLength(2);
  });

  it.each([
    [
      'a form',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'card=1',
      415,
      'unsupported_media_type',
    ],
    ['text', { 'content-type': 'text/plain' }, '{"card":{}}', 415, 'unsupported_media_type'],
    ['no JSON', asJson, '{', 400, 'invalid_json'],
    ['a card that is none', asJson, '{"card":{"number":"1"}}', 400, 'validation_failed'],
    ['11 MiB', asJson, ' '.repeat(11 * 1024 * 1024), 413, 'payload_too_large'],
  ])('refuse %s, and nothing is forwarded', async (_, headers, text, status, code) => {
    const proxy = await shop.proxy({}, { ...application, request_transforms: [tokenize] });
    expect(await proxy.call({ headers, body: text })).toMatchObject({ status, code });
    expect(shop.destination.received).toEqual([]);
  });

  it('that tokenize, and code that does, are refused with 409 once the application is gone', async () => {
    const key = { key: product.adminKey };
    const body = { name: 'short', type: 'private', permissions: ['token:create'] };
    const { id } = await create(product, '/applications', body, product.adminKey);
    const request = 'return { ...args, body: { card: await svc.tokenize(args.body.card) } };';
    const proxies = [
      await shop.proxy({}, { application: { id }, request_transforms: [tokenize] }),
      await shop.proxy({ request }, { application: { id } }),
    ];
    for (const proxy of proxies) {
      expect((await proxy.call({ body: { card } })).status).toBe(200);
    }
    const path = `${product.baseUrl}/applications/${id}`;
    expect((await call('DELETE', path, key)).status).toBe(409);
    expect((await call('DELETE', `${path}?force=true`, key)).status).toBe(204);
    for (const proxy of proxies) {
      expect(await proxy.call({ body: { card } })).toMatchObject({
        status: 409,
        code: 'application_gone',
      });
    }
    expect(shop.destination.received).toHaveLength(2);
  });
});

describe('response steps', () => {
  it('tokenize a card in the answer, which never reaches the caller', async () => {
    shop.answer = (res) =>
      res.writeHead(201, { ...asJson, 'x-theirs': '1' }).end(JSON.stringify({ card, id: 7 }));
    const proxy = await shop.proxy(
      {},
      {
        ...application,
        response_transforms: [
          tokenize,
          header('remove', 'X-Theirs'),
          header('append', 'X-Mine', '2'),
        ],
      },
    );
    const answer = await proxy.call({ body: {} });
    expect(answer.text).toMatch(/^\{"card":"[0-9a-f-]{36}","id":7\}$/);
    expect(answer.status).toBe(201);
    expect(
      ['x-theirs', 'x-mine', 'svc-proxy-destination-status'].map((name) =>
        answer.headers.get(name),
      ),
    ).toEqual([null, '2', '201']);
  });

  it('remove a trailer with its header', async () => {
    shop.answer = (res) => {
      res.writeHead(200, { 'content-type': 'text/plain', trailer: 'X-Theirs' });
      res.write('x');
      res.addTrailers({ 'X-Theirs': 'hidden' });
      res.end();
    };
    const steps = [header('remove', 'X-Theirs')];
    const proxy = await shop.proxy({}, { response_transforms: steps });
    const answer = await talk(
      product.baseUrl,
      `GET /proxy HTTP/1.1\r\nHost: a\r\nConnection: close\r\nSVC-API-KEY: ${product.privateKey}\r\n` +
        `SVC-PROXY-KEY: ${proxy.key}\r\nTE: trailers\r\n\r\n`,
    );
    expect(answer).toContain('HTTP/1.1 200 OK');
    expect(answer).not.toContain('hidden');
  });

  it('pass on no partial answer', async () => {
    shop.answer = (res) => res.writeHead(206, asJson).end(JSON.stringify({ number: card.number }));
    const proxy = await shop.proxy({}, { response_transforms: [mask] });
    const answer = await proxy.call({ method: 'GET', headers: { Range: 'bytes=8-36' } });
    expect(answer).toMatchObject({ status: 502, code: 'destination_answer_invalid' });
    expect(answer.text).not.toContain('4242');
  });

  it('run after the code', async () => {
    const proxy = await shop.proxy(
      { response: `return { headers: {}, body: { card: { number: '4242424242424242' } } };` },
      { response_transforms: [mask] },
    );
    const answer = await proxy.call({ body: {} });
    expect(answer.text).toMatch(/^\{"card":\{"number":"[^"]*4242"\}\}$/);
    expect(answer.text).not.toContain('42424242');
  });

  it('that touch headers alone let the body stream', async () => {
    shop.answer = (res) =>
      res.writeHead(200, { 'content-type': 'image/png', 'x-theirs': '1' }).end('PNG');
    const proxy = await shop.proxy({}, { response_transforms: [header('remove', 'x-theirs')] });
    const answer = await proxy.call({ body: {} });
    expect([
      answer.text,
      answer.headers.get('x-theirs'),
      answer.headers.get('content-type'),
    ]).toEqual(['PNG', null, 'image/png']);
  });

  it.each([
    ['text', 'text/plain', card.number],
    ['broken JSON', 'application/json', `{"card":{"number":"${card.number}"`],
    ['a card that is none', 'application/json', '{"card":{"number":"4242"}}'],
    ['too many places', 'application/json', `{"items":[${'{"n":"4242"},'.repeat(1_000)}{"n":1}]}`],
  ])('pass on no answer that they cannot read: %s', async (_, type, text) => {
    shop.answer = (res) => res.writeHead(201, { 'content-type': type }).end(text);
    const hiding = { type: 'mask', options: { path: '$.items[*].n', expression: 'x' } };
    const steps = { response_transforms: [tokenize, hiding] };
    const answer = await (await shop.proxy({}, { ...application, ...steps })).call({ body: {} });
    expect(answer).toMatchObject({
      status: 502,
      code: 'destination_answer_invalid',
      detail: expect.stringContaining(
        `The answer is ${type}; the request was delivered (201).`,
      ) as string,
    });
    expect(answer.headers.get('svc-proxy-destination-status')).toBe('201');
    expect(answer.text).not.toContain('4242');
  });

  it('pass on no answer that broke off', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () =>
        socket.end(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"card":',
        ),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const destination_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const proxy = await shop.proxy({}, { destination_url, response_transforms: [mask] });
    expect(await proxy.call({ body: {} })).toMatchObject({
      status: 502,
      code: 'destination_unreachable',
    });
    await new Promise((resolve) => server.close(resolve));
  });
});
