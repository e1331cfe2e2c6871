import { call, create, reactorOf, runningProduct, until, type Answer } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { baseUrl, adminKey } = product;
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2034 };
const masked = { ...card, number: 'XXXXXXXXXXXX4242' };
const everything = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use'];
let receiver: Receiver;
let key: string;
let proxy: { id: string; key: string };
let expiring: { id: string; at: number };

beforeAll(async () => {
  receiver = await startReceiver();
  key = await keyUnder(rule('reveal', '/', 1, everything));
  const body = { name: 'vault', destination_url: `${receiver.url}/seen` };
  const { id, key: proxyKey } = await create(product, '/proxies', body);
  proxy = { id, key: String(proxyKey) };
  const at = Date.now() + 3_000;
  expiring = { id: await token('expired', { expires_at: new Date(at).toISOString() }), at };
});
afterAll(() => receiver.close());

interface Rule {
  readonly priority: number;
  readonly container: string;
  readonly transform: string;
  readonly permissions: readonly string[];
}

const rule = (
  transform: string,
  container: string,
  priority = 1,
  permissions: readonly string[] = ['token:read', 'token:use'],
): Rule => ({ priority, container, transform, permissions });

async function keyUnder(...rules: readonly Rule[]): Promise<string> {
  const body = { name: 'vault', type: 'private', rules };
  return String((await create(product, '/applications', body)).key);
}

async function token(data: unknown, more: object = {}, by = key): Promise<string> {
  return (await create(product, '/tokens', { data, ...more }, by)).id;
}

async function manyTokens(count: number): Promise<string[]> {
  const body = Array.from({ length: count }, (_, n) => `value ${n}`);
  const answer = await call('POST', `${baseUrl}/tokenize`, { key, body });
  expect(answer.status).toBe(201);
  return JSON.parse(answer.text) as string[];
}

const throughProxy = (body: unknown, by: string): Promise<Answer> =>
  call('POST', `${baseUrl}/proxy`, { key: by, headers: { 'SVC-PROXY-KEY': proxy.key }, body });

/** The two ways to fill in a document: where the result is, and where a refusal stands. */
const doors = [
  {
    name: '/detokenize',
    permission: 'token:read',
    ask: (body: unknown, by: string) => call('POST', `${baseUrl}/detokenize`, { key: by, body }),
    filled: (answer: Answer) => JSON.parse(answer.text) as unknown,
    refusal: (answer: Answer) => answer.body as unknown,
  },
  {
    name: 'the proxy',
    permission: 'token:use',
    ask: throughProxy,
    filled: () => JSON.parse(receiver.received.at(-1)?.body ?? '') as unknown,
    refusal({ body }: Answer): unknown {
      expect(Object.keys(body)).toEqual(['proxy_error']);
      return body.proxy_error;
    },
  },
];

describe.each(doors)('$name', ({ ask, filled, refusal, permission }) => {
  async function expectRefused(body: unknown, problem: object, by = key): Promise<void> {
    const before = receiver.received.length;
    const answer = await ask(body, by);
    expect(refusal(answer)).toMatchObject(problem);
    expect(problem).toHaveProperty('status', answer.status);
    expect(receiver.received).toHaveLength(before);
  }

  async function expectFilled(body: unknown, document: unknown, by = key): Promise<void> {
    const answer = await ask(body, by);
    expect(answer.status).toBe(200);
    expect(filled(answer)).toEqual(document);
  }

  const unknown = (...ids: string[]): object => ({
    title: 'A token cannot be found.',
    status: 400,
    code: 'unknown_token',
    detail: `Not found: ${ids.join(', ')}.`,
  });
  const denied = (detail: string): object => ({
    title: 'The API key does not permit this.',
    status: 403,
    code: 'permission_denied',
    detail,
  });
  const outOfBounds = denied(
    `The permission ${permission} is needed for the container /general/high/.`,
  );
  const unmasked = denied(
    `The grant of ${permission} gives the mask of a token, and one of them has none.`,
  );
  const redacted = denied(`A rule redacts one of the tokens under ${permission}.`);
  const invalid = (detail: unknown): object => ({
    title: 'A detokenization expression is invalid.',
    status: 400,
    code: 'invalid_expression',
    detail,
  });

  it('refuses an unknown, foreign, deleted or expired id in one and the same way', async () => {
    const missing = crypto.randomUUID();
    const foreign = await token('foreign', {}, product.secondTenant.privateKey);
    const deleted = await token('deleted');
    const gone = await call('DELETE', `${baseUrl}/tokens/${deleted}`, { key });
    expect(gone.status).toBe(204);
    await until(() => Promise.resolve(Date.now() > expiring.at));
    await until(async () => (await ask({ a: `{{${expiring.id}}}` }, key)).status === 400);
    for (const id of [missing, foreign, deleted, expiring.id]) {
      await expectRefused({ a: `{{${id}}}` }, unknown(id));
    }
    const known = await token('known');
    await expectRefused({ a: `{{${known}}}`, b: `{{${missing}}}` }, unknown(missing));
  });

  it('fills in 100 tokens, and refuses 101', async () => {
    const ids = await manyTokens(101);
    const body = ids.map((id) => `{{${id}}}`);
    const values = ids.map((_, n) => `value ${n}`);
    await expectFilled(body.slice(0, 100), values.slice(0, 100));
    await expectRefused(body, invalid('A request may use at most 100 tokens.'));
  });

  it('fills in 1,000 expressions, and refuses 1,001', async () => {
    const expression = `{{${await token('v')}}}`;
    const body = Array.from({ length: 1_001 }, () => expression);
    await expectFilled(
      body.slice(1),
      body.slice(1).map(() => 'v'),
    );
    await expectRefused(body, invalid('A request may hold at most 1000 expressions.'));
  });

  it('refuses a malformed expression by its position, without repeating it', async () => {
    const id = await token({ name: 'v' });
    for (const broken of ['{{ no id }}', '{{}}', `{{ ${id} | }}`]) {
      const position = expect.stringMatching(
        /^The expression at character \d+ [a-z ]+\.$/,
      ) as string;
      await expectRefused({ broken }, invalid(position));
    }
    const unheard = expect.stringMatching(/`unheard` is no filter\.$/) as string;
    await expectRefused({ a: `{{ ${id} | unheard }}` }, invalid(unheard));
    const fits = expect.stringMatching(/last4/) as string;
    await expectRefused({ a: `{{ ${id} | last4 }}` }, invalid(fits));
  });

  it('returns the data, the mask or nothing, as the rule says', async () => {
    const body = { a: `{{${await token(card, { type: 'card' })}}}` };
    const withoutMask = { a: `{{${await token('bare')}}}` };
    const [reveal, mask, redact] = [
      await keyUnder(rule('reveal', '/')),
      await keyUnder(rule('mask', '/')),
      await keyUnder(rule('redact', '/')),
    ];
    await expectFilled(body, { a: card }, reveal);
    await expectFilled(body, { a: masked }, mask);
    await expectRefused(withoutMask, unmasked, mask);
    await expectRefused(body, redacted, redact);
    const elsewhere = await keyUnder(rule('reveal', '/pci/'));
    await expectFilled(body, { a: card }, elsewhere);
    await expectRefused(withoutMask, outOfBounds, elsewhere);
  });

  it('decides by the lowest priority, and among equals by the most specific container', async () => {
    const body = { a: `{{${await token(card, { type: 'card' })}}}` };
    const specificLater = [rule('reveal', '/pci/high/', 2), rule('mask', '/', 1)];
    await expectFilled(body, { a: masked }, await keyUnder(...specificLater));
    const specificFirst = [rule('reveal', '/pci/high/', 1), rule('mask', '/', 2)];
    await expectFilled(body, { a: card }, await keyUnder(...specificFirst));
    const equals = [
      rule('mask', '/', 1),
      rule('reveal', '/pci/high/', 1),
      rule('mask', '/pci/', 1),
    ];
    await expectFilled(body, { a: card }, await keyUnder(...equals));
    const redacting = [rule('redact', '/', 1), rule('reveal', '/pci/high/', 5)];
    await expectRefused(body, redacted, await keyUnder(...redacting));
  });
});

describe('the audit log', () => {
  const linesOf = async (query: string, tokenId: string) => {
    const { body, text } = await call('GET', `${baseUrl}/logs?${query}&size=100`, {
      key: adminKey,
    });
    const lines = body.data as { token_ids?: string[]; trace_id: string }[];
    return { lines: lines.filter((line) => line.token_ids?.includes(tokenId)), text };
  };

  it('records who used which tokens, for what and for which destination, and no value', async () => {
    const value = `value-${crypto.randomUUID()}`;
    const [first, second] = [await token(value), await token(value)];
    const reader = await call('GET', `${baseUrl}/applications/key`, { key });
    const use = {
      actor_id: reader.body.id,
      actor: { type: 'application', id: reader.body.id, name: reader.body.name },
      token_ids: [first, second],
      created_at: expect.stringMatching(/Z$/) as string,
      id: expect.stringMatching(/^\d+$/) as string,
    };
    const body = { a: `{{${first}}}`, b: `{{${second}}}` };
    const proxied = await throughProxy(body, key);
    const ofProxy = await linesOf(`entity_type=proxy&entity_id=${proxy.id}`, first);
    expect(ofProxy.lines).toEqual([
      {
        ...use,
        operation: 'proxy.invoke',
        entity_type: 'proxy',
        entity_id: proxy.id,
        outcome: 'success',
        destination_host: new URL(receiver.url).host,
        trace_id: proxied.headers.get('svc-trace-id'),
      },
    ]);
    const detokenized = await call('POST', `${baseUrl}/detokenize`, { key, body });
    const ofReads = await linesOf('operation=token.detokenize', first);
    expect(ofReads.lines).toEqual([
      {
        ...use,
        operation: 'token.detokenize',
        entity_type: 'tenant',
        entity_id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
        outcome: 'success',
        trace_id: detokenized.headers.get('svc-trace-id'),
      },
    ]);
    expect(ofProxy.text + ofReads.text).not.toContain(value);
  });

  it('records refused uses, too', async () => {
    const id = await token('v');
    await throughProxy({ a: `{{${id}}}` }, await keyUnder(rule('redact', '/')));
    const { lines } = await linesOf(`entity_type=proxy&entity_id=${proxy.id}`, id);
    expect(lines).toMatchObject([{ outcome: 'refused', token_ids: [id] }]);
  });
});

it('an ephemeral proxy fills in expressions, too', async () => {
  const { adminKey: admin, privateKey } = product.secondTenant;
  const self = `${baseUrl}/tenants/self`;
  const { name, settings } = (await call('GET', self, { key: admin })).body;
  const changed = { ...(settings as object), enable_ephemeral_proxy: 'true' };
  const { status } = await call('PUT', self, { key: admin, body: { name, settings: changed } });
  expect(status).toBe(200);

  const id = await token('ephemeral', {}, privateKey);
  const answer = await call('POST', `${baseUrl}/proxy/{{${id}}}?q={{${id}}}`, {
    key: privateKey,
    headers: { 'SVC-PROXY-URL': `${receiver.url}/at?k=1`, 'X-Value': `{{${id}}}` },
    body: { a: `{{${id}}}` },
  });
  expect(answer.status).toBe(200);
  const { url, body, headers } = receiver.received.at(-1) ?? { url: '', body: '', headers: {} };
  expect([url, body]).toEqual(['/at/ephemeral?k=1&q=ephemeral', '{"a":"ephemeral"}']);
  expect(headers).toMatchObject({ 'x-value': 'ephemeral' });

  const refused = await call('POST', `${baseUrl}/proxy`, {
    key: privateKey,
    headers: { 'SVC-PROXY-URL': receiver.url },
    body: { a: `{{${crypto.randomUUID()}}}` },
  });
  expect(refused.body).toMatchObject({ proxy_error: { status: 400, code: 'unknown_token' } });
});

it('a value that looks like an expression is not expanded, wherever it is put', async () => {
  const other = await token('never');
  const value = `{{${other}}}`;
  const id = await token({ inner: value });
  const expression = `{{${id}|json:'$.inner'}}`;
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key };
  const encoded = encodeURIComponent(expression);
  const send = async (type: string, body: string): Promise<string> => {
    const answer = await fetch(`${baseUrl}/proxy/${encoded}?q=${encoded}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': type, 'X-Value': expression },
      body,
    });
    expect([answer.status, await answer.text()]).toEqual([200, '{"received":true}']);
    const seen = receiver.received.at(-1);
    expect(seen?.headers['x-value']).toBe(value);
    expect(decodeURIComponent(seen?.url ?? '')).toBe(`/seen/${value}?q=${value}`);
    return seen?.body ?? '';
  };
  const json = await send('application/json', `{"a":"${expression}","b":"{{${id}}}"}`);
  expect(JSON.parse(json)).toEqual({ a: value, b: { inner: value } });
  expect(await send('text/plain', expression)).toBe(value);
  const form = await send('application/x-www-form-urlencoded', `a=${encoded}`);
  expect(new URLSearchParams(form).get('a')).toBe(value);
  const filling = ' '.repeat(1_200_000);
  const streamed = await send('application/json', `{"f":"${filling}","a":"${expression}"}`);
  expect(JSON.parse(streamed)).toEqual({ f: filling, a: value });

  const detokenized = await call('POST', `${baseUrl}/detokenize`, { key, body: [`{{${id}}}`] });
  expect(detokenized.text).toBe(JSON.stringify([{ inner: value }]));
  const reactor = await reactorOf(product, 'module.exports = ({ args }) => ({ raw: args })');
  const body = { args: { a: expression } };
  const reacted = await call('POST', `${baseUrl}/reactors/${reactor}/react`, { key, body });
  expect(reacted.text).toBe(JSON.stringify({ raw: { a: value } }));
});
