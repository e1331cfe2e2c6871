import { randomUUID } from 'node:crypto';
import type { ParameterType } from '@glovebox/definitions';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

const callbackUrl = 'http://127.0.0.1:9/hook';
const traceId = randomUUID();

let gateway: SpecGateway;
let key: string;
let callerId: string;
let reactorId: string;

beforeAll(async () => {
  gateway = await startSpecGateway({ EGRESS_ALLOW: '127.0.0.1:9' });
  ({ key, id: callerId } = await gateway.revocable(['token:use']));
  reactorId = await gateway.reactor();
});

afterAll(() => gateway.close());

interface Sent {
  readonly id?: string;
  readonly headers?: Record<string, string>;
  readonly body?: RequestInit['body'];
}

async function react({ id = reactorId, headers, body = '{}' }: Sent = {}) {
  const answer = await fetch(`${gateway.url}/reactors/${id}/react`, {
    method: 'POST',
    headers: {
      'SVC-API-KEY': key,
      'SVC-TRACE-ID': traceId,
      'Content-Type': 'application/json',
      ...headers,
    },
    body,
  });
  const json = (await answer.json()) as Readonly<Record<string, unknown>>;
  return {
    status: answer.status,
    json,
    traceId: answer.headers.get('svc-trace-id'),
    unknown: answer.headers.get('svc-unknown-members'),
  };
}

const invoke = (body: Readonly<Record<string, unknown>>) => react({ body: JSON.stringify(body) });

const invokeWith = (apiKey: string, tokenId: string) =>
  react({
    headers: { 'SVC-API-KEY': apiKey },
    body: JSON.stringify({ args: { a: `{{ ${tokenId} }}` }, callback_url: callbackUrl }),
  });

const runs = () =>
  gateway.ctx.database.query<{ readonly args: Buffer }>(
    `SELECT id, tenant_id AS "tenantId", reactor_id AS "reactorId", actor_id AS "actorId", status,
       timeout_ms AS "timeoutMs", trace_id AS "traceId", arguments AS args,
       callback_url AS "callbackUrl"
     FROM reactor_runs ORDER BY due_at`,
  );

async function expectRefused(sent: Sent, status: number, code: string): Promise<void> {
  const before = (await runs()).length;
  const answer = await react(sent);
  expect(answer).toMatchObject({ status, json: { status, code }, traceId });
  expect(await runs()).toHaveLength(before);
}

async function expectFault(body: Readonly<Record<string, unknown>>, errors: object): Promise<void> {
  const before = (await runs()).length;
  const answer = await invoke(body);
  expect(answer).toMatchObject({ status: 400, json: { code: 'validation_failed' } });
  expect(answer.json.errors).toEqual(errors);
  expect(await runs()).toHaveLength(before);
}

describe('an invocation of a reactor', () => {
  it.each<[number, string, string, Sent]>([
    [401, 'invalid_api_key', 'with a wrong API key', { headers: { 'SVC-API-KEY': 'nope' } }],
    [
      401,
      'invalid_api_key',
      'with an API key of nobody, in front of every other check',
      {
        id: 'nope',
        headers: { 'SVC-API-KEY': `key_${'a'.repeat(40)}`, 'Content-Type': 'text/plain' },
      },
    ],
    [
      415,
      'unsupported_media_type',
      'with a body of text',
      { headers: { 'Content-Type': 'text/plain' }, body: 'x' },
    ],
    ...[
      'application/merge-patch+json',
      'application/vnd.x+json',
      'application/json; charset=latin1',
    ].map((type): [number, string, string, Sent] => [
      415,
      'unsupported_media_type',
      `with a body of ${type}`,
      { headers: { 'Content-Type': type } },
    ]),
    [
      415,
      'unsupported_media_type',
      'with an encoded body',
      { headers: { 'Content-Encoding': 'gzip' } },
    ],
    [
      415,
      'unsupported_media_type',
      'with a body of text for a reactor that does not exist',
      { id: randomUUID(), headers: { 'Content-Type': 'text/plain' }, body: 'x' },
    ],
    [404, 'not_found', 'of a reactor that does not exist', { id: randomUUID() }],
    [
      404,
      'not_found',
      'of a reactor that does not exist, with text/json',
      { id: randomUUID(), headers: { 'Content-Type': 'text/json' } },
    ],
    [404, 'not_found', 'of an id that is no UUID', { id: 'nope' }],
    [400, 'invalid_json', 'with a body that is cut off', { body: '{"args":' }],
    [400, 'invalid_json', 'with a body that is a list', { body: '[]' }],
    [400, 'invalid_json', 'with a member that comes twice', { body: '{"args":{},"args":{}}' }],
    [
      413,
      'payload_too_large',
      'with a body above one mebibyte',
      { body: `{"args":{"a":"${'a'.repeat(1024 * 1024)}"}}` },
    ],
    [
      400,
      'invalid_expression',
      'with an expression that is not valid',
      { body: JSON.stringify({ args: { a: '{{ | }}' }, callback_url: callbackUrl }) },
    ],
  ])('is answered with %d %s %s', async (status, code, _, sent) => {
    await expectRefused(sent, status, code);
  });

  it('is answered with 401 without an API key', async () => {
    const answer = await fetch(`${gateway.url}/reactors/${reactorId}/react`, { method: 'POST' });
    expect(answer.status).toBe(401);
  });

  it('is answered with 401 once its key has been revoked', async () => {
    const application = await gateway.revocable(['token:use']);
    await application.revoke();
    await expectRefused({ headers: { 'SVC-API-KEY': application.key } }, 401, 'invalid_api_key');
  });

  it('is answered with 403 when the application may not use tokens', async () => {
    const headers = { 'SVC-API-KEY': await gateway.application(['token:read']) };
    await expectRefused({ headers }, 403, 'permission_denied');
    await expectRefused({ headers, id: 'nope' }, 403, 'permission_denied');
  });

  it('is answered with 404 when the reactor is that of another tenant', async () => {
    const headers = { 'SVC-API-KEY': await gateway.application(['token:use'], randomUUID()) };
    await expectRefused({ headers }, 404, 'not_found');
  });

  it('is answered with 404 when its path ends in a slash and the reactor does not exist', async () => {
    const answer = await fetch(`${gateway.url}/reactors/nope/react/`, {
      method: 'POST',
      headers: { 'SVC-API-KEY': key },
    });
    expect(answer.status).toBe(404);
  });

  it('is answered with 503 when no runner can be reached', async () => {
    await expectRefused({}, 503, 'no_capacity');
  });

  it('names the members that nothing reads, and refuses them where the caller is strict', async () => {
    const body = JSON.stringify({ arsg: { a: 1 }, args: { any: 1 }, callbackUrl, timeoutMs: 1e4 });
    expect(await react({ body })).toMatchObject({ status: 202, unknown: 'arsg' });
    const strict = { 'SVC-STRICT': 'true' };
    expect(await react({ body, headers: strict })).toMatchObject({
      status: 400,
      unknown: 'arsg',
      json: { errors: { arsg: ['is not a member; did you mean args?'] } },
    });
    const known = JSON.stringify({ args: { any: 1 }, callback_url: callbackUrl });
    expect(await react({ body: known, headers: strict })).toMatchObject({
      status: 202,
      unknown: null,
    });
    await expectRefused({ headers: { 'SVC-STRICT': 'yes' } }, 400, 'invalid_request');
    const keyed = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const once = await react({ body, headers: keyed });
    expect(await react({ body, headers: keyed })).toEqual({ ...once, unknown: 'arsg' });
  });

  it.each<[string, Readonly<Record<string, unknown>>, object]>([
    ['args that are a list', { args: [] }, { args: ['must be an object'] }],
    [
      'a callback_url that is no URL',
      { callback_url: 'nope' },
      { callback_url: ['must be an absolute http or https URL'] },
    ],
    [
      'a callback_url at a private address',
      { callback_url: 'https://10.0.0.1/hook' },
      {
        callback_url: [
          'is not a public address; the operator may allow it with EGRESS_ALLOW=10.0.0.1:443',
        ],
      },
    ],
    [
      'a callback_url at localhost that no call can reach',
      { callback_url: 'http://localhost:3000/hook' },
      {
        callback_url: [
          'is not a public address; the operator may allow it with EGRESS_ALLOW=127.0.0.1:3000',
        ],
      },
    ],
    [
      'a callback_url without a scheme',
      { callback_url: 'localhost:3000/hook' },
      { callback_url: ['has no scheme: it must begin with https:// or http://'] },
    ],
    [
      'a callback_url at a name by plain http',
      { callback_url: 'http://shop.example/hook' },
      { callback_url: ['must be an https URL'] },
    ],
    [
      'a callback_url of more than 2,000 characters',
      { callback_url: `${callbackUrl}/${'a'.repeat(2_000)}` },
      { callback_url: ['must be at most 2000 characters'] },
    ],
    [
      'a callback_url that is a number',
      { callback_url: 1 },
      { callback_url: ['must be a string'] },
    ],
    [
      'timeout_ms without callback_url',
      { timeout_ms: 10_000 },
      { timeout_ms: ['is only allowed with callback_url'] },
    ],
    [
      'several faults at once',
      { args: 1, callback_url: 'nope', timeout_ms: 1 },
      {
        args: ['must be an object'],
        callback_url: ['must be an absolute http or https URL'],
        timeout_ms: ['must be a whole number from 10000 to 210000'],
      },
    ],
  ])('is answered with 400 for %s', async (_, body, errors) => {
    await expectFault(body, errors);
  });
});

describe('an invocation with a callback_url', () => {
  it('is accepted with 202 once its run is a row, with its arguments sealed', async () => {
    const answer = await invoke({ args: { secret: 'of the args' }, callback_url: callbackUrl });
    const { async_request_id: id } = answer.json;
    expect(answer).toEqual({
      status: 202,
      json: { async_request_id: id, asyncReactorRequestId: id },
      traceId,
      unknown: null,
    });
    const run = (await runs()).at(-1);
    expect(run).toMatchObject({
      id,
      tenantId: gateway.tenantId,
      reactorId,
      actorId: callerId,
      status: 'pending',
      timeoutMs: 10_000,
      traceId,
    });
    const { sealer } = gateway.ctx;
    const opened = await sealer.open(
      {
        table: 'reactor_runs',
        column: 'arguments',
        tenantId: gateway.tenantId,
        record: String(id),
      },
      run?.args ?? Buffer.alloc(0),
    );
    expect(JSON.parse(String(opened))).toEqual({ secret: 'of the args' });
  });

  it('is accepted without opening a token, and recorded as an acceptance', async () => {
    const tokenId = await gateway.token('4242');
    await gateway.asAdmin(`UPDATE tokens SET data = 'cannot be opened' WHERE id = '${tokenId}'`);
    const args = { card: `{{ ${tokenId} }}` };
    expect(await invoke({ args, callback_url: callbackUrl })).toMatchObject({ status: 202 });
    expect(await gateway.uses(tokenId)).toMatchObject([
      {
        operation: 'reactor.accept',
        outcome: 'success',
        actor_id: callerId,
        entity_type: 'reactor',
        entity_id: reactorId,
        trace_id: traceId,
        token_ids: [tokenId],
      },
    ]);
  });

  it('is answered at once for a token that is unknown, expired or not its own to use', async () => {
    const expired = await gateway.token('x');
    await gateway.asAdmin(`UPDATE tokens SET expires_at = now() WHERE id = '${expired}'`);
    const elsewhere = await gateway.token('x', { containers: ['/pci/high/'] });
    const bounded = await gateway.application([], gateway.tenantId, [
      {
        description: '',
        priority: 1,
        container: '/general/',
        transform: 'reveal',
        permissions: ['token:use'],
      },
    ]);
    const before = (await runs()).length;
    for (const tokenId of [randomUUID(), expired]) {
      expect(await invokeWith(key, tokenId)).toMatchObject({
        status: 400,
        json: { code: 'unknown_token' },
      });
    }
    expect(await invokeWith(bounded, elsewhere)).toMatchObject({
      status: 403,
      json: { code: 'permission_denied' },
    });
    expect(await runs()).toHaveLength(before);
    expect(await gateway.uses(elsewhere)).toMatchObject([
      { operation: 'reactor.accept', outcome: 'refused' },
    ]);
  });

  describe('for a formula with parameters', () => {
    const card = `{{ ${randomUUID()} }}`;
    const send = async (parameters: Readonly<Record<string, ParameterType>>, args: object) => {
      const all = Object.entries(parameters);
      const id = await gateway.reactor(
        all.map(([name, type]) => ({ name, type, optional: false })),
      );
      return react({ id, body: JSON.stringify({ args, callback_url: callbackUrl }) });
    };

    it('is answered at once for arguments that no token decides on', async () => {
      expect(
        await send(
          { amount: 'number', 'user.name': 'string', card: 'object' },
          { amount: 'much', user: { card }, card },
        ),
      ).toMatchObject({
        status: 400,
        json: {
          code: 'validation_failed',
          errors: { 'args.amount': ['must be a number'], 'args.user.name': ['is required'] },
        },
      });
    });

    it.each<[string, Readonly<Record<string, ParameterType>>, (token: string) => object]>([
      ['is an expression', { amount: 'number' }, (amount) => ({ amount })],
      ['holds an expression', { note: 'number' }, (token) => ({ note: `1${token}` })],
      ['is below an expression', { 'card.number': 'string' }, (token) => ({ card: token })],
      ['holds expressions further down', { order: 'object' }, (token) => ({ order: { token } })],
    ])('leaves an argument to the run that %s', async (_, parameters, argsOf) => {
      const token = `{{ ${await gateway.token({ number: '4242' })} }}`;
      expect(await send(parameters, argsOf(token))).toMatchObject({ status: 202 });
    });
  });

  describe('whose args are one expression', () => {
    const send = (reactor: string, args: string) =>
      react({ id: reactor, body: JSON.stringify({ args, callback_url: callbackUrl }) });

    it('is accepted with 202 if it yields an object that fits the parameters', async () => {
      const id = await gateway.reactor([{ name: 'number', type: 'number', optional: false }]);
      const args = `{{ ${await gateway.token({ number: '4242' })} }}`;
      const answer = await send(id, args);
      expect(answer.status).toBe(202);
      const run = (await runs()).at(-1);
      const place = { table: 'reactor_runs', column: 'arguments', tenantId: gateway.tenantId };
      const opened = await gateway.ctx.sealer.open(
        { ...place, record: String(answer.json.async_request_id) },
        run?.args ?? Buffer.alloc(0),
      );
      expect(JSON.parse(String(opened))).toBe(args);
    });

    it.each<[string, unknown, (token: string) => string, object]>([
      ['yields a text', 'x', (token) => token, { args: ['must be an object'] }],
      ['yields a list', [{}], (token) => token, { args: ['must be an object'] }],
      ['is within a text', {}, (token) => `x${token}`, { args: ['must be an object'] }],
      ['is none', {}, () => 'x', { args: ['must be an object'] }],
      ['lacks a parameter', {}, (token) => token, { 'args.number': ['is required'] }],
      [
        'yields what cannot be cast',
        { number: 'x' },
        (token) => token,
        { 'args.number': ['must be a number'] },
      ],
    ])('is answered with 400 before it is accepted if it %s', async (_, data, argsOf, errors) => {
      const id = await gateway.reactor([{ name: 'number', type: 'number', optional: false }]);
      const before = (await runs()).length;
      const answer = await send(id, argsOf(`{{ ${await gateway.token(data)} }}`));
      expect(answer).toMatchObject({ status: 400, json: { code: 'validation_failed', errors } });
      expect(await runs()).toHaveLength(before);
    });
  });

  it.each([10_000, 10_001, 209_999, 210_000])(
    'is accepted with a timeout_ms of %d, which its run gets',
    async (timeoutMs) => {
      const answer = await invoke({ callback_url: callbackUrl, timeout_ms: timeoutMs });
      expect(answer.status).toBe(202);
      expect((await runs()).at(-1)).toMatchObject({ timeoutMs });
    },
  );

  it.each([9_999, 210_001, 0, -10_000, 10_000.5, '10000', [10_000], true])(
    'is answered with 400 for a timeout_ms of %j',
    async (timeoutMs) => {
      await expectFault(
        { callback_url: callbackUrl, timeout_ms: timeoutMs },
        { timeout_ms: ['must be a whole number from 10000 to 210000'] },
      );
    },
  );

  it('may spell its members callbackUrl and timeoutMs', async () => {
    const answer = await invoke({ callbackUrl, timeoutMs: 20_000 });
    expect(answer.status).toBe(202);
    expect((await runs()).at(-1)).toMatchObject({ timeoutMs: 20_000 });
    await expectFault(
      { callbackUrl, timeoutMs: 1 },
      { timeout_ms: ['must be a whole number from 10000 to 210000'] },
    );
  });
});
