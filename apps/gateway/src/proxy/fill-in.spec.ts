import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { startRawServer, type RawServer } from '../spec-sockets';

const bufferMax = 65_536;
let gateway: SpecGateway;
let destination: Destination;
let key: string;
let proxyKey: string;

beforeAll(async () => {
  gateway = await startSpecGateway({ PROXY_BUFFER_MAX: String(bufferMax) });
  destination = await startDestination();
  key = await gateway.application(['token:use']);
  proxyKey = await gateway.proxy(`${destination.url}/base?own=1`);
});

afterAll(async () => {
  await destination.close();
  await gateway.close();
});

afterEach(() => {
  destination.requests.length = 0;
});

const json = { 'Content-Type': 'application/json' };
const text = { 'Content-Type': 'text/plain' };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

function call(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, ...init.headers },
  });
}

const post = (body: string | Buffer, headers: Record<string, string> = json): Promise<Response> =>
  call('/proxy', { method: 'POST', headers, body });

async function refused(answer: Response, status: number, code: string): Promise<string> {
  const body = await answer.text();
  expect([answer.status, JSON.parse(body)]).toMatchObject([
    status,
    { proxy_error: { status, code } },
  ]);
  expect(destination.requests).toEqual([]);
  return body;
}

const hostile = 'a"b\\{{x}}&c=d/e?f#g%h+i \u0000é';

describe('a value cannot add members to a body', () => {
  const breaking = 'x","role":"admin","y":"';

  it.each([
    ['text/json', { 'Content-Type': 'text/json' }],
    ['odd spelling of JSON', { 'Content-Type': 'Application/JSON ; charset="utf-8"' }],
    ['a suffix of JSON', { 'Content-Type': 'application/vnd.a!b+c+json' }],
    ['no type', { 'Content-Type': '' }],
  ])('that the destination reads as JSON (%s)', async (_, headers) => {
    const id = await gateway.token(breaking);
    await post(Buffer.from(` \r\n{"name":"{{ ${id} }}"}`), headers);
    expect(destination.requests[0]?.json()).toEqual({ name: breaking });
  });

  it.each(['["a {{ID}}"]', '"{{ID}}"', '\ufeff{"a":"{{ID}}"}', `{"a":"{{ID}}","b":"LONG"}`])(
    'that begins as JSON, has no type and may be longer than PROXY_BUFFER_MAX: %s',
    async (template) => {
      const id = await gateway.token(breaking);
      const body = template.replace('ID', id).replace('LONG', 'l'.repeat(2 * bufferMax));
      await post(Buffer.from(body), { 'Content-Type': '' });
      expect(destination.requests[0]?.text()).toBe(
        body.replace(`{{${id}}}`, JSON.stringify(breaking).slice(1, -1)),
      );
    },
  );

  it('that begins as JSON and has an expression outside of its strings', async () => {
    const id = await gateway.token('1,"role":"admin"');
    const answer = await post(Buffer.from(`{"id":{{ ${id} }}}`), { 'Content-Type': '' });
    await refused(answer, 400, 'invalid_expression');
  });

  it('with two content types', async () => {
    const outgoing = httpRequest(`${gateway.url}/proxy`, {
      method: 'POST',
      headers: {
        'SVC-API-KEY': key,
        'SVC-PROXY-KEY': proxyKey,
        'Content-Type': ['text/plain', 'application/json'],
      },
    });
    outgoing.end('{}');
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    expect([answer.statusCode, destination.requests]).toEqual([400, []]);
  });

  it('by an expression that begins a text without a type, which is allowed', async () => {
    const id = await gateway.token('a"b');
    await post(Buffer.from(`{{ ${id} }} [x]`), { 'Content-Type': '' });
    expect(destination.requests[0]?.text()).toBe('a"b [x]');
  });
});

describe('an expression is replaced', () => {
  it('in JSON: a whole string can become an object, text stays text', async () => {
    const card = await gateway.token({ number: '4242' });
    const name = await gateway.token(hostile);
    await post(
      `{ "card": "{{ ${card} }}","n":"x {{${name}}}", "last":"{{${card}|json:'$.number'}}"}`,
    );
    expect(destination.requests[0]?.json()).toEqual({
      card: { number: '4242' },
      n: `x ${hostile}`,
      last: '4242',
    });
    expect(destination.requests[0]?.text()).toMatch(/^\{ "card": \{"number":"4242"\},"n":/);
  });

  it('in a form, where a value cannot leave its field', async () => {
    const id = await gateway.token(hostile);
    await post(`a=1&b=%7B%7B+${id}+%7D%7D&c={{${id}}}`, form);
    const fields = new URLSearchParams(destination.requests[0]?.text());
    expect([...fields]).toEqual([
      ['a', '1'],
      ['b', hostile],
      ['c', hostile],
    ]);
  });

  it('in text and XML of any charset', async () => {
    const id = await gateway.token('<é>');
    const latin1 = Buffer.concat([Buffer.from([0xe9]), Buffer.from(` {{${id}}}`)]);
    await post(`<a>{{ ${id} }}</a>`, { 'Content-Type': 'application/soap+xml; charset=utf-8' });
    await post(latin1, { 'Content-Type': 'text/plain; charset=iso-8859-1' });
    expect(destination.requests[0]?.text()).toBe('<a><é></a>');
    expect(destination.requests[1]?.body).toEqual(Buffer.from([0xe9, ...Buffer.from(' <é>')]));
  });

  it('in a body without a type that is UTF-8', async () => {
    const id = await gateway.token('x');
    const untyped = async (body: Buffer): Promise<void> => {
      const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey };
      const outgoing = httpRequest(`${gateway.url}/proxy`, { method: 'POST', headers });
      outgoing.end(body);
      ((await once(outgoing, 'response')) as [IncomingMessage])[0].resume();
    };
    const binary = Buffer.concat([Buffer.from([0xff]), Buffer.from(`{{${id}}}`)]);
    await untyped(Buffer.from(`é{{${id}}}`));
    await untyped(binary);
    expect(destination.requests.map((request) => request.text())).toEqual(['éx']);
  });

  const limits = readFileSync(join(__dirname, '../../../../docs/reference/limits.md'), 'utf8');
  const [, textTypes = ''] = /^## Text types\n([^]*?)\n## /m.exec(limits) ?? [];
  const documented = textTypes.match(/`[\w*]+\/[\w*.+-]+`/g) ?? [];

  it('in each text type that docs/reference/limits.md lists, and it lists all that are known', async () => {
    const types = documented.map((type) => type.slice(1, -1).replaceAll('*', 'any'));
    const known = 'graphql x-ndjson ndjson yaml x-yaml javascript ecmascript'.split(' ');
    const all = [
      'text/any',
      'any/any+xml',
      'any/any+yaml',
      ...known.map((one) => `application/${one}`),
    ];
    expect(types).toEqual(expect.arrayContaining(all));
    const id = await gateway.token('x');
    for (const type of types) await post(`a {{ ${id} }}`, { 'Content-Type': `${type}; a=b` });
    expect(destination.requests.map((request) => request.text())).toEqual(types.map(() => 'a x'));
  });

  it('in path, query and headers', async () => {
    const segment = hostile.replaceAll('\\', '');
    const id = await gateway.token(segment);
    const plain = await gateway.token('Bearer é');
    await call(`/proxy/%7B%7B${id}%7D%7D/x?q={{${id}}}&svc-proxy-key=${proxyKey}&r=%20`, {
      headers: { Authorization: `{{${plain}}}!`, 'X-Plain': '{{ no end' },
    });
    const [seen] = destination.requests;
    const encoded = encodeURIComponent(segment);
    expect(seen?.url).toBe(`/base/${encoded}/x?own=1&q=${encoded}&r=%20`);
    expect(Buffer.from(seen?.headers.authorization ?? '', 'latin1').toString()).toBe('Bearer é!');
    expect(seen?.headers['x-plain']).toBe('{{ no end');
  });

  it('nowhere else: not in other media or encoded bodies, without detokenize, or for anonymous callers', async () => {
    const id = await gateway.token('secret');
    const body = `{"card":"{{${id}}}"}`;
    const literal = await gateway.proxy(destination.url, { detokenize: false });
    const open = await gateway.proxy(destination.url, { requireAuth: false });
    await post(gzipSync(body), { ...json, 'Content-Encoding': 'gzip' });
    await post(body, { ...json, 'SVC-PROXY-KEY': literal });
    await fetch(`${gateway.url}/proxy/{{${id}}}`, {
      method: 'POST',
      headers: { ...json, 'SVC-PROXY-KEY': open },
      body,
    });
    expect(destination.requests.map((request) => request.body.toString('latin1'))).toEqual([
      gzipSync(body).toString('latin1'),
      body,
      body,
    ]);
    expect(destination.requests[2]?.url).toMatch(/%7B%7B|\{\{/);
  });
});

describe('a body of a type that is not filled in', () => {
  const binary = { 'Content-Type': 'application/octet-stream' };
  const expression = `{{ ${crypto.randomUUID()} }}`;
  const wrong = 'The expression at character 0 stands in a body in which none is replaced';
  let raw: RawServer;
  let rawKey: string;
  const heard = (): string => raw.connections.map(({ text: received }) => received).join('');

  beforeAll(async () => {
    raw = await startRawServer(() => undefined);
    rawKey = await gateway.proxy(raw.url);
  });
  afterAll(() => raw.close());

  it.each([
    ['octet-stream', binary],
    ['multipart', { 'Content-Type': 'multipart/form-data; boundary=x' }],
    ['a picture', { 'Content-Type': 'image/png' }],
  ])(
    'is refused before its first byte leaves if it holds an expression: %s',
    async (_, headers) => {
      const sent = { ...headers, 'SVC-PROXY-KEY': rawKey };
      const bodies = [
        Buffer.from(expression),
        Readable.toWeb(Readable.from([Buffer.from(expression.slice(0, 9)), expression.slice(9)])),
      ];
      for (const body of bodies) {
        const answer = await call('/proxy', {
          method: 'POST',
          headers: sent,
          body,
          duplex: 'half',
        } as RequestInit);
        expect(await refused(answer, 400, 'invalid_expression')).toContain(wrong);
      }
      expect(heard()).toBe('');
    },
  );

  it('is refused if its expression comes in two parts', async () => {
    const outgoing = httpRequest(`${gateway.url}/proxy`, {
      method: 'POST',
      headers: {
        ...binary,
        'SVC-API-KEY': key,
        'SVC-PROXY-KEY': rawKey,
        'Content-Length': expression.length,
      },
    });
    await new Promise((resolve) => outgoing.write(expression.slice(0, 20), resolve));
    outgoing.end(expression.slice(20));
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    expect([answer.statusCode, heard()]).toEqual([400, '']);
  });

  it('goes on byte for byte without one, and with one that names no UUID or is cut off', async () => {
    const bodies = ['{{ name }}', expression.slice(0, -1), `{ ${expression.slice(1)}`].map((text) =>
      Buffer.concat([Buffer.from([0xff]), Buffer.from(text)]),
    );
    for (const body of bodies) expect((await post(body, binary)).status).toBe(200);
    expect(destination.requests.map(({ body }) => body)).toEqual(bodies);
  });

  it('above PROXY_BUFFER_MAX is streamed with its length, and its beginning is looked through', async () => {
    const large = Buffer.alloc(4 * bufferMax, 'x');
    large.write(expression, bufferMax);
    expect((await post(large, binary)).status).toBe(200);
    const [forwarded] = destination.requests;
    expect(forwarded?.body.equals(large)).toBe(true);
    expect(forwarded?.headers['content-length']).toBe(String(large.length));
    destination.requests.length = 0;
    large.write(expression, bufferMax - expression.length);
    await refused(await post(large, binary), 400, 'invalid_expression');
  });
});

describe('a call ends before anything is forwarded', () => {
  it('with 400 and no echo for an expression or token that is malformed, unknown, deleted, foreign or expired', async () => {
    const elsewhere = await startSpecGateway();
    const foreign = await elsewhere.token('x');
    await elsewhere.close();
    await refused(await post('{"a":"{{ 4111 1111 }}"}'), 400, 'invalid_expression');
    await refused(await post('{"a":{{unknown-token}}}'), 400, 'invalid_expression');
    await refused(await post('{"a":"{{unknown-token|nope}}"}'), 400, 'invalid_expression');
    const malformed = await call('/proxy?a={{4111+1111}}');
    expect(await refused(malformed, 400, 'invalid_expression')).not.toContain('4111');
    for (const id of ['unknown-token', foreign, crypto.randomUUID()]) {
      expect(await refused(await post(`{"a":"{{${id}}}"}`), 400, 'unknown_token')).toContain(id);
    }
  });

  it('with 400 for a value that a header or a path cannot hold', async () => {
    const line = await gateway.token('a\r\nSVC-API-KEY: b');
    const headers = { 'X-A': `{{${line}}}` };
    await refused(await call('/proxy', { headers }), 400, 'invalid_request');
    for (const climbing of ['..', 'a\\b']) {
      const up = await gateway.token(climbing);
      await refused(await call(`/proxy/a/{{${up}}}/b`), 400, 'invalid_request');
    }
  });

  it('with 400 for 101 tokens or 1,001 expressions in the whole request, before any is looked up', async () => {
    const ids = Array.from({ length: 100 }, () => `{{${crypto.randomUUID()}}}`);
    const headers = { ...text, 'X-A': `{{${crypto.randomUUID()}}}` };
    await refused(await post(ids.join(''), headers), 400, 'invalid_expression');
    await refused(await post(ids.join(''), text), 400, 'unknown_token');
    const id = await gateway.token('x');
    await refused(await post(`{{${id}}}`.repeat(1_001), text), 400, 'invalid_expression');
    expect((await post(`{{${id}}}`.repeat(1_000), text)).status).toBe(200);
  });

  it('with 403 for one token that the caller may not use among others that it may', async () => {
    const mine = await gateway.token('a', { containers: ['/mine/'] });
    const other = await gateway.token('b');
    const rule = { description: '', priority: 1, permissions: ['token:use' as const] };
    const narrow = await gateway.application([], gateway.tenantId, [
      { ...rule, container: '/mine/', transform: 'reveal' },
    ]);
    const headers = { ...json, 'SVC-API-KEY': narrow };
    await refused(await post(`["{{${mine}}}","{{${other}}}"]`, headers), 403, 'permission_denied');
    expect((await post(`["{{${mine}}}"]`, headers)).status).toBe(200);
  });

  it('with 413 for an expansion above 10 MiB', async () => {
    const id = await gateway.token('x'.repeat(600_000));
    await refused(await post(`"${`{{${id}}}`.repeat(18)}"`), 413, 'payload_too_large');
  });

  it('with 503 when the use cannot be recorded, and no data is opened', async () => {
    const id = await gateway.token('x');
    await gateway.asAdmin('REVOKE INSERT ON audit_log FROM glovebox_data');
    try {
      await refused(await post(`"{{${id}}}"`), 503, 'service_unavailable');
    } finally {
      await gateway.asAdmin('GRANT INSERT ON audit_log TO glovebox_data');
    }
  });
});

it('a call whose key is revoked while the body comes gets 401 and no data', async () => {
  const id = await gateway.token('x');
  const { key: leaving, revoke } = await gateway.revocable(['token:use']);
  const outgoing = httpRequest(`${gateway.url}/proxy`, {
    method: 'POST',
    headers: { ...json, 'SVC-API-KEY': leaving, 'SVC-PROXY-KEY': proxyKey, Expect: '100-continue' },
  });
  outgoing.flushHeaders();
  await once(outgoing, 'continue');
  outgoing.write('{"a":');
  await revoke();
  outgoing.end(`"{{${id}}}"}`);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(401);
  answer.resume();
  expect(destination.requests).toEqual([]);
});

describe('a body above PROXY_BUFFER_MAX', () => {
  const filler = JSON.stringify('x'.repeat(bufferMax));

  it('of any kind is streamed with its expressions replaced', async () => {
    const id = await gateway.token({ a: 'é"' });
    await post(`[${filler},"{{${id}}}",${filler}]`);
    expect(destination.requests[0]?.text()).toBe(`[${filler},{"a":"é\\""},${filler}]`);
    await post(`a=${'x'.repeat(bufferMax)}&b={{${id}|json:'$.a'}}`, form);
    expect(new URLSearchParams(destination.requests[1]?.text()).get('b')).toBe('é"');
    await post(`${'x'.repeat(bufferMax)}{{${id}}}`, text);
    expect(destination.requests[2]?.text().slice(bufferMax)).toBe('{"a":"é\\""}');
  });

  it('opens tokens of at most 10 MiB in all its batches together', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 11; n += 1) {
      ids.push(await gateway.token({ large: 'x'.repeat(1_000_000), small: n }));
    }
    const bodyOf = (all: string[]): string => {
      const [first, second] = [all.slice(0, 6), all.slice(6)].map((some) =>
        some.map((id) => `"{{${id}|json:'$.small'}}"`).join(),
      );
      return `[${first},${filler},${filler},${second}]`;
    };
    const allowed = await post(bodyOf(ids.slice(1)));
    expect(allowed.status).toBe(200);
    expect(destination.requests[0]?.text()).toMatch(/,"9","10"\]$/);
    destination.requests.length = 0;
    await refused(await post(bodyOf(ids)), 413, 'payload_too_large');
  });

  it('that is refused midway breaks off the request to the destination', async () => {
    const received: Buffer[] = [];
    let ended = false;
    const raw = createServer((socket) => {
      socket.on('data', (chunk) => received.push(chunk)).on('close', () => (ended = true));
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    try {
      const { port } = raw.address() as AddressInfo;
      const rawKey = await gateway.proxy(`http://127.0.0.1:${port}`);
      const headers = { ...json, 'SVC-PROXY-KEY': rawKey };
      const answer = await post(`[${filler},${filler},"{{unknown-token}}"]`, headers);
      await refused(answer, 400, 'unknown_token');
      await waitFor(() => ended);
      const request = Buffer.concat(received).toString();
      expect(request).toContain('xxxx');
      expect(request.endsWith('0\r\n\r\n')).toBe(false);
    } finally {
      raw.close();
    }
  });
});
