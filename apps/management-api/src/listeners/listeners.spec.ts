import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { verifyWebhook } from '@glovebox/client/webhooks';
import type { Sight } from '@glovebox/vault';
import { DataPlane } from '../runs/spec-data-plane';
import { rule, useTestApi, type TestProcess } from '../spec-api';
import type { ListenerResponse, WebhookCopies } from './listeners.dto';

const api = useTestApi();
let data: DataPlane;
let tenantId: string;
/** May listen. */
let key: string;

const reveals = [rule('reveal', '/', ['log:read'])];
beforeAll(async () => {
  data = new DataPlane(api.ctx, api.database.dataUrl);
  tenantId = api.tenant.tenant_id;
  key = await api.keyWith('management', [], reveals);
});
afterAll(() => data.close());
afterEach(() => api.admin.query('DELETE FROM webhook_listeners'));

const listen = (input: object = {}): Promise<ListenerResponse> =>
  api.made<ListenerResponse>('/webhook-listeners', input, key);
const path = ({ id }: { id: string }, after: string, wait = 0): string =>
  `/webhook-listeners/${id}/webhooks?after=${after}&wait=${wait}`;

async function hear(
  listener: { id: string },
  after = '0',
  { wait = 0, at = api }: { wait?: number; at?: TestProcess } = {},
): Promise<WebhookCopies> {
  const { status, body, text } = await at.get(path(listener, after, wait), key);
  expect([status, text]).toEqual([200, text]);
  return body as WebhookCopies;
}
const idsOf = ({ data: copies }: WebhookCopies): string[] => copies.map(({ id }) => id);

async function secret(): Promise<string> {
  const { body } = await api.get('/tenants/self/webhook-secret', api.tenant.management_key);
  return (body as { secret: string }).secret;
}

it('a listener gets copies of the webhooks that are made from then on, with genuine signatures', async () => {
  await data.webhook(tenantId);
  const listener = await listen();
  const body = '{"raw":{"last4":"4242"}}';
  const id = await data.webhook(tenantId, { body });
  await data.webhook(api.foreign.tenant_id);
  const heard = await hear(listener);
  expect(heard.data).toMatchObject([{ id, webhook_id: `msg_${id}`, body }]);
  const [copy] = heard.data;
  if (!copy || 'withheld' in copy) throw new Error('no copy');
  expect(verifyWebhook(copy.body, copy.headers, await secret())).toEqual({
    ...{ runId: id, result: { raw: { last4: '4242' } } },
  });
});

it('the same cursor gives the same copies, in any process, and the next one gives them no more', async () => {
  const listener = await listen();
  const first = [await data.webhook(tenantId), await data.webhook(tenantId)];
  const { after } = await hear(listener);
  const second = await data.webhook(tenantId);
  const another = await api.startAnother();
  expect(idsOf(await hear(listener, '0', { at: another }))).toEqual(first);
  const next = await hear(listener, after, { at: another });
  expect(idsOf(next)).toEqual([second]);
  expect(await hear(listener, next.after)).toEqual({ after: next.after, data: [] });
});

it('webhooks that were delivered meanwhile are copied too, and those of other reactors are not', async () => {
  const { id: formula } = await api.made('/reactor-formulas', {
    ...{ name: 'f', code: 'module.exports = () => 1' },
  });
  const body = { name: 'r', configuration: {}, formula: { id: formula } };
  const { id: reactorId } = await api.made('/reactors', body);
  const listener = await listen({ reactor_id: reactorId });
  const id = await data.webhook(tenantId, { reactorId });
  await data.webhook(tenantId);
  await api.admin.query(
    `WITH ended AS (DELETE FROM webhook_deliveries WHERE id = $1 RETURNING *)
     INSERT INTO ended_deliveries (tenant_id, id, run_id, reactor_id, webhook_id, status, callback_url,
       body, sights, attempt_log, created_at, ended_at)
     SELECT tenant_id, id, run_id, reactor_id, webhook_id, 'delivered', callback_url, body, sights,
       attempt_log, created_at, now() FROM ended`,
    [id],
  );
  expect(idsOf(await hear(listener))).toEqual([id]);
  const unknown = await api.post('/webhook-listeners', { reactor_id: randomUUID() }, key);
  expect(unknown.status).toBe(400);
});

it('one part has at most 20 webhooks and a mebibyte of bodies, but a larger body comes alone', async () => {
  const listener = await listen();
  for (let nth = 0; nth < 25; nth += 1) await data.webhook(tenantId);
  const body = JSON.stringify({ raw: 'x'.repeat(600 * 1024) });
  for (let nth = 0; nth < 2; nth += 1) await data.webhook(tenantId, { body });
  const sizes: number[] = [];
  for (let after = '0'; ;) {
    const heard = await hear(listener, after);
    if (heard.data.length === 0) break;
    sizes.push(heard.data.length);
    ({ after } = heard);
  }
  expect(sizes).toEqual([20, 6, 1]);
});

it('a reading waits without a connection, and is woken by a webhook, another reading or the end', async () => {
  const listener = await listen();
  const both = [hear(listener, '0', { wait: 25 }), hear(listener, '0', { wait: 25 })];
  // Two of one listener do not wait.
  expect((await Promise.race(both)).data).toEqual([]);
  while (api.ctx.dataSource.shares.state.held > 0) await setImmediate();
  const id = await data.webhook(tenantId);
  const heard = await Promise.all(both);
  expect(heard.flatMap(idsOf)).toEqual([id]);

  const another = await api.startAnother();
  const lease = async (): Promise<string> =>
    JSON.stringify(await api.admin.query('SELECT lease_until FROM webhook_listeners'));
  const before = await lease();
  const last = hear(listener, '1', { wait: 25, at: another });
  while ((await lease()) === before) await setImmediate();
  another.ctx.webhookNews.close();
  expect((await last).data).toEqual([]);
});

it('a renewal keeps a listener that is busy, takes no part, and shows nothing', async () => {
  const listener = await listen();
  const first = await data.webhook(tenantId);
  const given = await hear(listener);
  const second = await data.webhook(tenantId);
  const lines = async (): Promise<string> =>
    (await api.get('/logs?operation=webhook_delivery.listen', key)).text;
  const before = await lines();
  await api.admin.query(`UPDATE webhook_listeners SET lease_until = now() + interval '16 seconds'`);
  const renewal = `${path(listener, '0', 25)}&copies=none`;
  expect((await api.get(renewal, key)).body).toEqual({ after: '0', data: [] });
  const [left] = await api.admin.query<{ seconds: number }>(
    'SELECT extract(epoch FROM lease_until - now())::int AS seconds FROM webhook_listeners',
  );
  expect(left?.seconds).toBeGreaterThan(60);
  expect(await lines()).toBe(before);
  expect(idsOf(await hear(listener))).toEqual([first]);
  expect(idsOf(await hear(listener, given.after))).toEqual([second]);

  await api.admin.query(`UPDATE webhook_listeners SET lease_until = now()`);
  expect((await api.get(renewal, key)).status).toBe(404);
});

describe('a reading that waits', () => {
  interface Application {
    readonly id: string;
    readonly key: string;
  }

  it.each<[number, string, (id: string) => Promise<unknown>]>([
    [
      401,
      'the application was deleted',
      async (id) => api.delete(`/applications/${id}`).expect(204),
    ],
    [
      403,
      'its rule no longer reveals',
      async (id) =>
        api.patch(`/applications/${id}`, { rules: [rule('mask', '/', ['log:read'])] }).expect(204),
    ],
    [
      403,
      'it may no longer read the log',
      async (id) =>
        api.patch(`/applications/${id}`, { permissions: ['reactor:read'], rules: [] }).expect(204),
    ],
    [200, 'none of its rights changed', async () => undefined],
  ])('gets %d if meanwhile %s', async (status, _, meanwhile) => {
    const owner = { name: 'Listens', type: 'management', permissions: [], rules: reveals };
    const { id, key: own } = await api.made<Application>('/applications', owner);
    const listener = await api.made<ListenerResponse>('/webhook-listeners', {}, own);
    const begun = jest.spyOn(api.ctx.webhookNews, 'wait');
    const heard = api.get(path(listener, '0', 25), own).then((answer) => answer);
    while (begun.mock.calls.length === 0) await setImmediate();
    begun.mockRestore();
    await meanwhile(id);
    await data.webhook(tenantId, { body: '{"raw":"secret"}' });
    const { status: answered, text } = await heard;
    expect([answered, text.includes('secret')]).toEqual([status, status === 200]);
  });
});

it('data that is gone is withheld, and each copy is a line of the audit log', async () => {
  const listener = await listen();
  const sight: Sight = {
    applicationId: randomUUID(),
    permission: 'token:use',
    container: '/pci/high/',
    transform: 'reveal',
    ids: ['deleted'],
    madeAt: [0],
  };
  const gone = await data.webhook(tenantId, { sights: [sight] });
  const shown = await data.webhook(tenantId);
  const { data: copies } = await hear(listener);
  expect(copies).toMatchObject([{ id: gone, withheld: 'gone' }, { id: shown }]);
  expect(copies[0]).not.toHaveProperty('body');
  const { body } = await api.get('/logs?operation=webhook_delivery.listen', key);
  const lines = (body as { data: { entity_id: string; outcome: string }[] }).data;
  const outcomeOf = (id: string) => lines.find(({ entity_id: of }) => of === id)?.outcome;
  expect([outcomeOf(gone), outcomeOf(shown)]).toEqual(['refused', 'success']);
});

describe('refuses', () => {
  it('keys whose rules do not reveal everything, and takes the lease of one that lost its rule', async () => {
    const masking = [rule('mask', '/pci/', ['log:read']), rule('reveal', '/', ['log:read'], 2)];
    for (const refused of [
      await api.keyWith('management', ['log:read']),
      await api.keyWith('management', [], [rule('reveal', '/pci/', ['log:read'])]),
      await api.keyWith('management', [], masking),
    ]) {
      const answer = await api.post('/webhook-listeners', {}, refused);
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('reveal')]);
    }
  });

  it('listeners of others, unknown ones, and those that were ended', async () => {
    const listener = await listen();
    const other = await api.keyWith('management', [], reveals);
    expect((await api.get(path(listener, '0'), other)).status).toBe(404);
    expect((await api.delete(`/webhook-listeners/${listener.id}`, other)).status).toBe(404);
    expect((await api.delete(`/webhook-listeners/${listener.id}`, key)).status).toBe(204);
    expect((await api.delete(`/webhook-listeners/${listener.id}`, key)).status).toBe(404);
    expect((await api.get(path(listener, '0'), key)).status).toBe(404);
  });

  it.each([
    'after=x',
    'after=-1',
    'after=1&after=2',
    'wait=26',
    'wait=-1',
    'wait=1.5',
    'wait=x',
    'copies=all',
  ])('a reading with %s', async (query) => {
    const answer = await api.get(`/webhook-listeners/${randomUUID()}/webhooks?${query}`, key);
    expect(answer.status).toBe(400);
  });

  it('a sixth listener of a tenant until one of them has ended', async () => {
    const listeners = await Promise.all(Array.from({ length: 5 }, () => listen()));
    const sixth = await api.post('/webhook-listeners', {}, key);
    expect([sixth.status, sixth.headers['retry-after']]).toEqual([429, '60']);
    await api.delete(`/webhook-listeners/${listeners[0]?.id}`, key).expect(204);
    await listen();
  });
});

it('a listener ends when nobody reads, or when it is 10,000 webhooks behind, and nothing of it stays', async () => {
  const left = async () =>
    api.admin.query(
      'SELECT listener_id AS id FROM listened_webhooks UNION SELECT id FROM webhook_listeners',
    );
  await api.admin.query(`UPDATE webhook_listeners SET lease_until = now()`);
  await api.admin.query('SELECT delete_ended_listeners(1000)');
  const silent = await listen();
  await data.webhook(tenantId);
  await api.admin.query(`UPDATE webhook_listeners SET lease_until = now() + interval '15 seconds'`);
  expect((await api.get(path(silent, '0'), key)).status).toBe(404);
  const slow = await listen();
  await api.admin.query(
    `INSERT INTO listened_webhooks (listener_id, tenant_id, delivery_id)
     SELECT $1, $2, gen_random_uuid() FROM generate_series(1, 10001)`,
    [slow.id, tenantId],
  );
  expect((await api.get(path(slow, '0'), key)).status).toBe(404);
  expect(await left()).toEqual([{ id: silent.id }]);
  await api.admin.query(`UPDATE webhook_listeners SET lease_until = now()`);
  await api.admin.query('SELECT delete_ended_listeners(1000)');
  expect(await left()).toEqual([]);
  // Nobody is noted for.
  await data.webhook(tenantId);
  expect(await left()).toEqual([]);
});
