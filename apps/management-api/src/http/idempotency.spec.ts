import { randomUUID } from 'node:crypto';
import { waitFor } from '@glovebox/testing';
import { asSql, inTenant } from '../database/in-tenant';
import { claimCall, storeOutcome, type Claim } from '@glovebox/idempotency';
import { rule, useTestApi, type TestProcess } from '../spec-api';

const api = useTestApi({ HEADER_PREFIXES: 'SVC,BT' });
let other: TestProcess;

beforeAll(async () => {
  other = await api.startAnother();
});

const header = 'SVC-IDEMPOTENCY-KEY';
const replay = 'svc-idempotent-replay';
const newKey = (): string => `order/${randomUUID()}`;
const formula = { name: 'F', code: 'module.exports = () => ({})' };
const proxy = () => ({ name: `P ${randomUUID()}`, destination_url: 'https://example.com' });

const stored = async (name: string): Promise<number> => {
  const [row] = await api.admin.query(
    'SELECT count(*)::int AS count FROM proxies WHERE name = $1',
    [name],
  );
  return (row as { count: number }).count;
};

describe('the same key and body', () => {
  it('create one proxy, and the second 201 is marked as a replay', async () => {
    const [key, body] = [newKey(), proxy()];
    const first = await api.post('/proxies', body).set(header, key);
    expect([first.status, first.headers[replay]]).toEqual([201, undefined]);
    const second = await api.post('/proxies/', body).set(header, key);
    expect([second.status, second.headers[replay]]).toEqual([201, 'true']);
    expect(second.text).toBe(first.text);
    expect(await stored(body.name)).toBe(1);
  });

  it('are replayed by another instance and under an alias of the header', async () => {
    const [key, body] = [newKey(), proxy()];
    const first = await api.post('/proxies', body).set(header, key);
    const { management_key } = api.tenant;
    const second = await other
      .post('/proxies', body, management_key)
      .set('BT-Idempotency-Key', key);
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(await stored(body.name)).toBe(1);
  });

  it('create one proxy when sent many times at once to both instances; each answer is it or 409', async () => {
    const [key, body] = [newKey(), proxy()];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? api : other)
          .post('/proxies', body, api.tenant.management_key)
          .set(header, key),
      ),
    );
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect(made.length + refused.length).toBe(20);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    expect(made.filter(({ headers }) => headers[replay] === undefined)).toHaveLength(1);
    for (const { body: problem, headers } of refused) {
      expect([problem, headers['retry-after']]).toEqual([
        {
          title: 'A request with this idempotency key is under way.',
          status: 409,
          code: 'request_in_progress',
        },
        '1',
      ]);
    }
    expect(await stored(body.name)).toBe(1);
  });

  it('get 409 while the first call runs', async () => {
    const [key, body] = [newKey(), proxy()];
    const send = (to: TestProcess) =>
      to.post('/proxies', body, api.tenant.management_key).set(header, key);
    const running = await api.admin.transaction(async (sql) => {
      await sql.query('SELECT 1 FROM definition_head FOR UPDATE');
      const sent = send(api).then((answer) => answer);
      await waitFor(async () => (await waitingForLocks()) > 0);
      expect((await send(other)).body).toMatchObject({ code: 'request_in_progress' });
      return { sent };
    });
    const first = await running.sent;
    const replayed = await send(other);
    expect([first.status, replayed.status, replayed.text]).toEqual([201, 201, first.text]);
    expect(await stored(body.name)).toBe(1);
  });

  it('replay a token, whose value is stored only sealed', async () => {
    const canary = `canary-${randomUUID()}`;
    const apiKey = await api.keyWith('private', [], [rule('reveal', '/', ['token:create'])]);
    const key = newKey();
    const create = () => api.post('/tokens', { data: canary }, apiKey).set(header, key);
    const [first, second] = [await create(), await create()];
    expect(first.body).toMatchObject({ data: canary });
    expect([second.status, second.text]).toEqual([201, first.text]);
    const rows = await api.admin.query('SELECT t::text AS row FROM idempotency_keys t');
    expect(JSON.stringify(rows)).not.toContain(canary);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(canary).toString('hex'));
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it.each([
    [409, '/tokens', { id: 'taken-already', data: 1 }],
    [422, '/reactor-formulas', { name: 'F', code: '(' }],
  ])('replay an answer of %d like a success', async (status, path, body) => {
    const apiKey = path === '/tokens' ? api.tenant.private_key : api.tenant.management_key;
    if (status === 409) await api.post(path, body, apiKey);
    const key = newKey();
    const first = await api.post(path, body, apiKey).set(header, key);
    expect([first.status, first.headers[replay]]).toEqual([status, undefined]);
    const second = await api.post(path, body, apiKey).set(header, key);
    expect([second.status, second.text]).toEqual([status, first.text]);
    expect(second.headers[replay]).toBe('true');
  });
});

it.each<[path: string, body: () => Promise<unknown>]>([
  ['/reactor-formulas', () => Promise.resolve(formula)],
  [
    '/reactors',
    async () => ({
      name: 'R',
      configuration: {},
      formula: { id: (await api.made('/reactor-formulas', formula)).id },
    }),
  ],
  ['/proxies', () => Promise.resolve(proxy())],
  ['/tenants/self/webhook-secret/rotate', () => Promise.resolve('')],
  ['/tokens', () => Promise.resolve({ data: 'x', mask: 'y' })],
  [
    '/tokenize',
    () => Promise.resolve({ a: 'x', b: { type: 'card_number', data: '4242424242424242' } }),
  ],
])('%s stores the answer that it sends', async (path, bodyOf) => {
  const [key, body] = [newKey(), await bodyOf()];
  const { private_key, management_key } = api.tenant;
  const apiKey = path.startsWith('/token') ? private_key : management_key;
  const call = () => api.post(path, body, apiKey).set(header, key);
  const [first, second] = [await call(), await call()];
  expect([second.status, second.text]).toEqual([first.status, first.text]);
  expect([first.headers[replay], second.headers[replay]]).toEqual([undefined, 'true']);
});

describe('another call', () => {
  it('gets 422 for another body under the same key', async () => {
    const key = newKey();
    await api.post('/proxies', proxy()).set(header, key);
    const other = proxy();
    const refused = await api.post('/proxies', other).set(header, key);
    expect([refused.status, refused.body]).toEqual([
      422,
      {
        title: 'The idempotency key was used with another body.',
        status: 422,
        code: 'idempotency_key_reused',
      },
    ]);
    expect(await stored(other.name)).toBe(0);
  });

  it('is independent on another path and of another application', async () => {
    const [key, body] = [newKey(), proxy()];
    await api.post('/proxies', body).set(header, key);
    const elsewhere = await api.post('/reactor-formulas', formula).set(header, key);
    expect([elsewhere.status, elsewhere.headers[replay]]).toEqual([201, undefined]);
    const colleague = await api.keyWith('management', ['proxy:create']);
    const theirs = await api.post('/proxies', body, colleague).set(header, key);
    expect([theirs.status, theirs.headers[replay]]).toEqual([201, undefined]);
    const foreign = await api.post('/proxies', body, api.foreign.management_key).set(header, key);
    expect([foreign.status, foreign.headers[replay]]).toEqual([201, undefined]);
  });

  it.each(['', 'x'.repeat(256), 'a b', 'ä'])(
    'is refused with 400 under the key %j',
    async (key) => {
      const body = proxy();
      const refused = await api.post('/proxies', body).set(header, key);
      expect([refused.status, refused.body]).toMatchObject([400, { code: 'invalid_request' }]);
      expect(await stored(body.name)).toBe(0);
    },
  );

  it('is refused with 400 under two keys', async () => {
    const twice = api.post('/proxies', proxy()).set(header, 'a').set('BT-Idempotency-Key', 'a');
    expect((await twice).status).toBe(400);
  });

  it('is not affected if its method is GET, PUT, PATCH or DELETE', async () => {
    const key = newKey();
    const { id } = (await api.post('/reactor-formulas', formula)).body as { id: string };
    const path = `/reactor-formulas/${id}`;
    for (const name of ['A', 'B']) {
      expect((await api.patch(path, { name }).set(header, key)).status).toBe(204);
      expect((await api.get(path).set(header, key)).body).toMatchObject({ name });
    }
  });
});

describe('no outcome is stored of', () => {
  it('a 400, so the corrected body may come under the same key', async () => {
    const [key, body] = [newKey(), proxy()];
    expect((await api.post('/proxies', { name: 'x' }).set(header, key)).status).toBe(400);
    expect((await api.post('/proxies', body).set(header, key)).status).toBe(201);
  });

  it('a 401, 403, 413 or 415', async () => {
    const key = newKey();
    const { private_key } = api.tenant;
    const post = (body: unknown, apiKey?: string) =>
      api.post('/proxies', body, apiKey).set(header, key);
    expect((await post(proxy(), 'nobody')).status).toBe(401);
    expect((await post(proxy(), private_key)).status).toBe(403);
    expect((await post(`"${'x'.repeat(2 * 1024 * 1024)}"`)).status).toBe(413);
    expect((await post(proxy()).set('Content-Type', 'text/plain')).status).toBe(415);
    const answer = await post(proxy());
    expect([answer.status, answer.headers[replay]]).toEqual([201, undefined]);
  });

  it('an answer with a new API key, so each call creates one', async () => {
    const body = { name: 'A', type: 'private', permissions: ['token:create'] };
    const { id } = (await api.post('/applications', body)).body as { id: string };
    const key = newKey();
    const { management_key: caller } = api.tenant;
    const paths = ['/applications', `/applications/${id}/keys`, `/applications/${id}/regenerate`];
    for (const path of paths) {
      const send = () =>
        api.post(path, path === '/applications' ? body : {}, caller).set(header, key);
      const [first, second] = [await send(), await send()];
      expect([first.status, second.headers[replay]]).toEqual([second.status, undefined]);
      expect((second.body as { key: string }).key).toMatch(/^key_/);
      expect((second.body as { key: string }).key).not.toBe((first.body as { key: string }).key);
    }
    const kept = await api.admin.query(
      `SELECT path FROM idempotency_keys WHERE starts_with(path, '/applications')`,
    );
    expect(kept).toEqual([]);
  });
});

describe('a claim', () => {
  const call = () => ({
    tenantId: api.tenant.tenant_id,
    applicationId: randomUUID(),
    path: '/proxies',
    keyHash: randomUUID(),
  });
  const claim = (name: ReturnType<typeof call>, bodyHash = 'body') =>
    inTenant(api.ctx.dataSource, name.tenantId, (manager) =>
      claimCall(asSql(manager), name, {
        bodyHash,
        status: 201,
        leaseSeconds: 30,
        takenOverBy: 'any',
      }),
    );
  const age = (name: ReturnType<typeof call>, seconds: number) =>
    api.admin.query(
      `UPDATE idempotency_keys SET lease_until = lease_until - make_interval(secs => $2),
         created_at = created_at - make_interval(secs => $2) WHERE key_hash = $1`,
      [name.keyHash, seconds],
    );
  const store = (held: Claim) =>
    inTenant(api.ctx.dataSource, held.tenantId, (manager) =>
      storeOutcome(asSql(manager), api.ctx.sealer, held, { id: 'x' }),
    );

  it('lasts 30 s; then another process takes over, and the first can store nothing', async () => {
    const name = call();
    const first = (await claim(name)) as Claim;
    await age(name, 29);
    await expect(claim(name)).rejects.toMatchObject({ code: 'request_in_progress' });
    await age(name, 2);
    const second = (await claim(name, 'another body')) as Claim;
    expect(second.owner).not.toBe(first.owner);
    await expect(store(first)).rejects.toMatchObject({ code: 'request_in_progress' });
    await store(second);
    expect(await claim(name, 'another body')).toMatchObject({ status: 201, outcome: 'completed' });
  });

  it('is forgotten after 24 hours, and its row goes, whosever it is', async () => {
    const [name, fresh] = [call(), call()];
    for (const one of [name, fresh]) await store((await claim(one)) as Claim);
    await age(name, 24 * 60 * 60 - 60);
    expect(await claim(name)).toMatchObject({ status: 201, outcome: 'completed' });
    await age(name, 61);
    expect(await claim(name)).toHaveProperty('owner');
    await age(name, 24 * 60 * 60 + 1);
    await api.admin.query('SELECT delete_old_idempotency_keys(1000)');
    const rows = await api.admin.query(
      'SELECT key_hash FROM idempotency_keys WHERE key_hash IN ($1, $2)',
      [name.keyHash, fresh.keyHash],
    );
    expect(rows).toEqual([{ key_hash: fresh.keyHash }]);
  });
});

it('an outcome is stored together with the change or not at all', async () => {
  const key = newKey();
  const body = proxy();
  await api.admin.query('ALTER TABLE definition_log RENAME TO definition_log_away');
  const broken = await api.post('/proxies', body).set(header, key);
  await api.admin.query('ALTER TABLE definition_log_away RENAME TO definition_log');
  expect(broken.status).toBe(500);
  expect(await stored(body.name)).toBe(0);
  const again = await api.post('/proxies', body).set(header, key);
  expect([again.status, again.headers[replay]]).toEqual([500, 'true']);
});

async function waitingForLocks(): Promise<number> {
  const [row] = await api.admin.query(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  );
  return (row as { count: number }).count;
}
