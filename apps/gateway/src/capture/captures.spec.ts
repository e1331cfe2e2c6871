import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { capturePlace, type CapturedMessages } from '@glovebox/captures';
import type { ProxyDefinition } from '@glovebox/definitions';
import { startDestination, startRunner, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { capturesAtOnce } from './captures';

const number = '4242424242424242';
const holder = 'Lovelace Byron';
const raw = '5555444433332222';

let runner: Awaited<ReturnType<typeof startRunner>>;
let gateway: SpecGateway;
let destination: Destination;
let key: string;
let card: string;

beforeAll(async () => {
  runner = await startRunner();
  gateway = await startSpecGateway({ RUNNER_URLS: runner.url, RUNNER_SECRET: runner.secret });
  await gateway.tenantSettings({ allow_full_capture: 'true' });
  destination = await startDestination(({ url, headers, body }, response) => {
    if (url.includes('/typed')) {
      response.setHeader('content-type', headers['content-type'] ?? '').end('{}');
    } else if (url.includes('/echo'))
      response.setHeader('content-type', 'application/json').end(body);
    else if (url.includes('/encoded')) {
      response
        .writeHead(200, {
          'content-type': 'application/json',
          'set-cookie': `card=${number}`,
          location: `/cards/${number}`,
        })
        .end(encodedAnswer());
    } else response.end('{"ok":true}');
  });
  key = await gateway.application(['token:use']);
  card = await gateway.token({ number, holder, cvc: '987' });
});

afterAll(async () => {
  await destination.close();
  await gateway.close();
  await runner.stop();
});

/** The data of the card in each form that destinations answer with. */
function encodedAnswer(): string {
  const escaped = [...number].map((digit) => `\\u00${digit.charCodeAt(0).toString(16)}`).join('');
  const percent = encodeURIComponent(holder).replace('L', '%4C');
  const base64 = Buffer.from(number).toString('base64');
  const hex = Buffer.from(number).toString('hex');
  const members = { base64, hex, percent, both: `paid by ${number}.`, [number]: 1, [holder]: 2 };
  return `{"plain":"${number}","escaped":"${escaped}",${JSON.stringify(members).slice(1)}`;
}

interface Row {
  readonly id: string;
  readonly tenant_id: string;
  readonly is_whole: boolean;
  readonly status: number;
  readonly code: string | null;
  readonly messages: Buffer;
}

const code = (text: string): NonNullable<ProxyDefinition['requestTransform']> => ({
  ...{ code: `module.exports = ({ args }) => { ${text} }`, codeHash: text, runtime: 'node20' },
});

async function capturedProxy(
  changes: Parameters<SpecGateway['changeableProxy']>[1] = {},
  { whole = false, ms = 60_000 } = {},
) {
  const proxy = await gateway.changeableProxy(destination.url, changes);
  const { id } = proxy;
  const until = new Date(Date.now() + ms).toISOString();
  await gateway.define({ kind: 'capture', id, tenantId: gateway.tenantId, until, whole });
  return { ...proxy, until: Date.parse(until) };
}

/** Of another tenant, and captured. */
async function openProxy(tenantId: string) {
  const proxy = await gateway.changeableProxy(destination.url, { requireAuth: false, tenantId });
  const until = new Date(Date.now() + 60_000).toISOString();
  await gateway.define({ kind: 'capture', id: proxy.id, tenantId, until, whole: false });
  return proxy;
}

const rowsOf = async (proxyId: string): Promise<Row[]> =>
  (await gateway.asAdmin(
    `SELECT * FROM captures WHERE proxy_id = '${proxyId}' ORDER BY id`,
  )) as Row[];

/** The captured call of a proxy that was called once. */
async function onlyRow(proxyId: string): Promise<Row> {
  return waitFor(
    async () => {
      const [row] = await rowsOf(proxyId);
      if (!row) throw new Error('not written yet');
      return row;
    },
    { timeoutMs: 20_000 },
  );
}

async function opened({ tenant_id, id, messages }: Row): Promise<CapturedMessages> {
  const text = await gateway.ctx.sealer.open(capturePlace(tenant_id, id), messages);
  return JSON.parse(text.toString('utf8')) as CapturedMessages;
}

const capturedCall = async (proxyId: string) => opened(await onlyRow(proxyId));

async function call(
  proxyKey: string,
  path: string,
  init: RequestInit & { headers?: Record<string, string> } = {},
  isKeyed = true,
): Promise<Response> {
  const answer = await fetch(`${gateway.url}/proxy${path}`, {
    ...init,
    headers: {
      ...(isKeyed ? { 'SVC-API-KEY': key } : {}),
      ...{ 'SVC-PROXY-KEY': proxyKey, ...init.headers },
    },
  });
  await answer.text();
  return answer;
}

const json = { 'content-type': 'application/json' };
const post = (document: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body: JSON.stringify(document),
});

it('a call is kept as it was sent, as it left and as it was answered, by shapes and expressions', async () => {
  const proxy = await capturedProxy();
  const expression = `{{ ${card} | json: '$.number' }}`;
  const document = { card: { number: expression, cvc: '123' }, sum: 4200, ok: true, none: null };
  await call(proxy.key, '/v1/echo?limit=10', post(document));
  const { request, sent, received, answer } = await capturedCall(proxy.id);
  const shape =
    `{"card":{"number":${expression},"cvc":<string 3>},"sum":<number 4>,` +
    '"ok":<boolean>,"none":null}';
  const body = { type: 'application/json', format: 'json', text: shape };
  const line = { method: 'POST', path: '/<string 2>/<string 4>', query: 'limit=<string 2>' };
  expect(request).toMatchObject({
    ...line,
    headers: expect.arrayContaining([['content-type', 'application/json']]) as unknown,
    body: { ...body, bytes: JSON.stringify(document).length },
  });
  expect(sent).toMatchObject({ ...line, host: destination.address, body });
  expect(received).toMatchObject({ status: 200, body });
  expect(answer).toBeUndefined();
});

describe('no capture holds a value', () => {
  const everywhere = (proxyKey: string) =>
    call(
      proxyKey,
      `/encoded/{{${card}|json:'$.number'}}/${raw}?card={{${card}|json:'$.holder'}}&${raw}=1&pan=${raw}&api_key=${raw}`,
      post(
        {
          number: `{{ ${card} | json: '$.number' }}`,
          whole: `{{ ${card} }}`,
          typed: raw,
          [raw]: raw,
          password: raw,
        },
        {
          authorization: `Bearer ${raw}`,
          cookie: `card=${raw}`,
          'x-holder': `{{ ${card} | json: '$.holder' }}`,
          'x-typed': raw,
          [`x-${raw}`]: 'a',
        },
      ),
    );
  const forms = [number, holder].flatMap((value) => [
    value,
    Buffer.from(value).toString('base64').replace(/=+$/, ''),
    Buffer.from(value).toString('hex'),
    encodeURIComponent(value),
  ]);

  it.each([false, true])('that was put in, in any form (whole texts: %s)', async (whole) => {
    const proxy = await capturedProxy({}, { whole });
    const { status } = await everywhere(proxy.key);
    expect(status).toBe(200);
    const row = await onlyRow(proxy.id);
    expect(row).toMatchObject({ is_whole: whole, status: 200 });
    const messages = await opened(row);
    const text = JSON.stringify(messages);
    for (const form of [...forms, '\\\\u0034', '%4Covelace']) {
      expect([form, text.includes(form)]).toEqual([form, false]);
    }
    expect(messages.sent?.path).toContain(`{{ ${card} |json:'$.number' }}`);
    expect(messages.received?.body?.text).toContain(`{{ ${card} |json:'$.number' }}`);
    const cookie = messages.received?.headers.find(([name]) => name === 'set-cookie');
    expect(cookie).toEqual(['set-cookie', '<hidden>']);
  });

  it('that was typed in plain, in the place of a value, a name, an id or a key', async () => {
    const proxy = await capturedProxy();
    await everywhere(proxy.key);
    const messages = await capturedCall(proxy.id);
    expect(JSON.stringify(messages)).not.toContain(raw);
    expect(messages.request.body?.text).toContain('"password":<hidden>');
    expect(messages.request.query).toContain('api_key=<hidden>');
    for (const name of ['authorization', 'cookie']) {
      expect(messages.request.headers).toContainEqual([name, '<hidden>']);
    }
    expect(JSON.stringify(messages).toLowerCase()).not.toMatch(/svc-api-key|svc-proxy-key/);
  });

  it('that stands as an argument in an expression, or in one that is none', async () => {
    const proxy = await capturedProxy();
    const padded = `{{ ${card} | json: '$.cvc' | append: '${raw}' | append: 'words' }}`;
    await call(
      proxy.key,
      '/echo',
      post({ padded, none: `{{${raw}}}`, wrong: `{{ ${raw} words }}` }),
    );
    const { request } = await capturedCall(proxy.id);
    expect(JSON.stringify(request)).not.toContain(raw);
    expect(request.body?.text).not.toContain('words');
  });

  it('that was put in where the type of a body or the name of a header stands', async () => {
    const word = 'hunter-two';
    const id = await gateway.token(word);
    const requestTransform = code(
      'return { headers: { ...args.headers, [args.body.name]: "a" }, body: args.body };',
    );
    const proxy = await capturedProxy({ requestTransform });
    await call(proxy.key, '/echo', post({ name: `{{ ${id} }}` }));
    const named = await capturedCall(proxy.id);
    expect(JSON.stringify(named)).not.toContain(word);
    expect(named.sent?.headers).toContainEqual([`{{ ${id} }}`, '<string 1>']);

    const other = await capturedProxy();
    const typed = { 'content-type': `application/{{ ${id} }}` };
    expect((await call(other.key, '/typed', post({ a: 1 }, typed))).status).toBe(200);
    const { sent, received } = await capturedCall(other.id);
    for (const message of [sent, received]) {
      expect(JSON.stringify(message)).not.toContain(word);
      expect(message?.headers).toContainEqual(['content-type', `<string 12>{{ ${id} }}`]);
    }
  });

  it('that code wrote in a form of its own, whole texts or not', async () => {
    const requestTransform = code(
      'return { headers: args.headers, body: { parts: args.body.number.match(/.{4}/g).reverse(), words: args.body.words } };',
    );
    const proxy = await capturedProxy({ requestTransform }, { whole: true });
    const id = await gateway.token('5105105105105100');
    const document = { number: `{{ ${id} }}`, words: 'some words' };
    expect((await call(proxy.key, '/echo', post(document))).status).toBe(200);
    const { request, sent, received } = await capturedCall(proxy.id);
    expect(request.body?.text).toBe(JSON.stringify(document));
    for (const message of [sent, received]) {
      expect(message?.body?.text).toBe(
        '{"parts":[<string 4>,<string 4>,<string 4>,<string 4>],"words":<string 10>}',
      );
    }
    const plain = await capturedProxy({ requestTransform }, { whole: true });
    await call(plain.key, '/echo', post({ number: '12345678', words: 'some words' }));
    expect((await capturedCall(plain.id)).sent?.body?.text).toBe(
      '{"parts":["5678","1234"],"words":"some words"}',
    );
  });

  it.each([
    ['application/xml', `<login><Password>${raw}</Password></login>`],
    ['text/plain', `a=1&client_secret=${raw}`],
    ['application/json', JSON.stringify({ payload: JSON.stringify({ api_key: raw }), a: 1 })],
    [
      'multipart/form-data; boundary=x',
      `--x\r\ncontent-disposition: form-data; name="password"\r\n\r\n${raw}\r\n--x--`,
    ],
  ])('of a key that stands within a text, also where texts are whole: %s', async (type, body) => {
    const proxy = await capturedProxy({}, { whole: true });
    const headers = { 'content-type': type };
    await call(proxy.key, '/', { method: 'POST', headers, body });
    expect(JSON.stringify(await capturedCall(proxy.id))).not.toContain(raw);
    const told = 'wrong password or signature';
    const other = await capturedProxy({}, { whole: true });
    await call(other.key, '/', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: told,
    });
    expect((await capturedCall(other.id)).request.body?.text).toBe(told);
  });

  it('of the configuration, which code and steps put into requests', async () => {
    const secret = 'sk_configured_0001';
    const options = { location: 'body' as const, path: '$.more', value: secret };
    const proxy = await capturedProxy(
      { requestSteps: [{ type: 'append', options }] },
      { whole: true },
    );
    await call(proxy.key, '/echo', post({ a: 'plain words' }));
    const messages = await capturedCall(proxy.id);
    expect(messages.request.body?.text).toBe('{"a":"plain words"}');
    expect(messages.sent?.body?.text).toBe('{"a":"plain words","more":"[redacted]"}');
    expect(JSON.stringify(messages)).not.toContain(secret);
  });
});

it('whole texts are kept as long as the tenant allows it, and never of what response steps take away', async () => {
  const steps = [
    { type: 'remove' as const, options: { location: 'body' as const, path: '$.gone' } },
  ];
  const proxy = await capturedProxy({ responseSteps: steps }, { whole: true });
  await call(proxy.key, '/echo', post({ gone: 'secret of theirs', stays: 'words' }));
  const { received, answer } = await capturedCall(proxy.id);
  expect(received?.body?.text).toBe('{"gone":<string 16>,"stays":<string 5>}');
  expect(answer?.body?.text).toBe('{"stays":"words"}');
  await gateway.tenantSettings({});
  const other = await capturedProxy({}, { whole: true });
  await call(other.key, '/echo', post({ stays: 'words' }));
  const row = await onlyRow(other.id);
  expect(row.is_whole).toBe(false);
  expect((await opened(row)).request.body?.text).toBe('{"stays":<string 5>}');
  await gateway.tenantSettings({ allow_full_capture: 'true' });
});

it('of a long body the beginning is kept, and a message has at most 64 KiB', async () => {
  const proxy = await capturedProxy({}, { whole: true });
  const list = JSON.stringify(Array.from({ length: 60_000 }, () => '"\\'));
  await call(proxy.key, '/echo', { method: 'POST', headers: json, body: list });
  const messages = await capturedCall(proxy.id);
  for (const message of Object.values(messages)) {
    expect(message.body).toMatchObject({ bytes: list.length, cut: true });
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(64 * 1024);
  }
});

it('forms, texts, bytes and encoded bodies are told apart', async () => {
  const shapeOf = async (type: string, body: string | Buffer, headers = {}) => {
    const proxy = await capturedProxy();
    const sent = { method: 'POST', headers: { 'content-type': type, ...headers }, body };
    await call(proxy.key, '/echo', sent as RequestInit & { headers: Record<string, string> });
    return (await capturedCall(proxy.id)).request.body;
  };
  const form = await shapeOf(
    'application/x-www-form-urlencoded',
    `a=b+c&client_secret=x&n={{${card}|json:'$.cvc'}}`,
  );
  expect(form?.text).toBe(`a=<string 3>&client_secret=<hidden>&n={{ ${card} |json:'$.cvc' }}`);
  const words = await shapeOf('text/plain', 'some words');
  expect(words).toMatchObject({ format: 'text', text: '<text 10>' });
  const bytes = await shapeOf('application/octet-stream', Buffer.from([0xff, 0, 1]));
  expect(bytes).toEqual({ type: 'application/octet-stream', format: 'binary', bytes: 3 });
  const encoded = await shapeOf('application/json', 'zipped', { 'content-encoding': 'gzip' });
  expect(encoded).toEqual({ type: 'application/json', format: 'encoded', bytes: 6 });
});

it('a call that fails is kept with the code of its error', async () => {
  const proxy = await capturedProxy({ destinationUrl: 'http://127.0.0.1:1' });
  await call(proxy.key, '/', post({ a: 1 }));
  const row = await onlyRow(proxy.id);
  expect(row).toMatchObject({ status: 502, code: 'destination_unreachable' });
  expect(await opened(row)).not.toHaveProperty('received');
});

it('capture ends after its time without anybody doing anything', async () => {
  const proxy = await capturedProxy({}, { ms: 300 });
  await waitFor(() => Date.now() > proxy.until);
  await call(proxy.key, '/echo', post({ a: 1 }));
  const other = await capturedProxy();
  await call(other.key, '/echo', post({ a: 1 }));
  await onlyRow(other.id);
  expect(await rowsOf(proxy.id)).toEqual([]);
});

it('a store that does not take captures holds up no call, and one tenant few captures of another', async () => {
  const [busy, other] = [await openProxy(randomUUID()), await openProxy(randomUUID())];
  const held = gateway.asAdmin(
    'DO $$ BEGIN LOCK TABLE captures IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(2); END $$',
  );
  let isHeld = true;
  void held.then(() => (isHeld = false));
  await waitFor(async () => {
    const locks = await gateway.asAdmin(
      `SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'captures'::regclass`,
    );
    return locks.length > 0;
  });
  for (let nth = 0; nth < 30; nth += 1) {
    expect((await call(busy.key, '/echo', post({ nth }), false)).status).toBe(200);
  }
  expect((await call(other.key, '/echo', post({ a: 1 }), false)).status).toBe(200);
  expect(isHeld).toBe(true);
  await held;
  const { id } = await onlyRow(other.id);
  await waitFor(async () => (await rowsOf(busy.id)).length === 30);
  const earlier = (await rowsOf(busy.id)).filter((row) => row.id < id);
  expect(earlier.length).toBeLessThanOrEqual(2);
});

it('10,000 calls leave as many captures as a second allows, and fail none', async () => {
  const proxy = await openProxy(randomUUID());
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const callOnce = () =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'SVC-PROXY-KEY': proxy.key, ...json };
      const sent = httpRequest(`${gateway.url}/proxy/echo`, { method: 'POST', agent, headers });
      sent.once('error', reject).once('response', (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.end('{"a":1}');
    });
  const begun = performance.now();
  const before = await skipped();
  const statuses = await Promise.all(Array.from({ length: 10_000 }, callOnce));
  agent.destroy();
  const seconds = (performance.now() - begun) / 1_000;
  expect(statuses.every((status) => status === 200)).toBe(true);
  const captured = 10_000 - ((await skipped()) - before);
  expect(captured).toBeGreaterThan(0);
  expect(captured).toBeLessThanOrEqual(capturesAtOnce + seconds + 1);
  await waitFor(async () => (await rowsOf(proxy.id)).length === captured, { timeoutMs: 30_000 });
});

async function skipped(): Promise<number> {
  const text = await gateway.ctx.registry.metrics();
  return Number(/captures_total{.*result="skipped".*} (\d+)/.exec(text)?.[1]);
}
