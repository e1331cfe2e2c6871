import { randomUUID } from 'node:crypto';
import { keepCapture, type CapturedCall } from '@glovebox/captures';
import { connectDatabase, timeOrderedId, type Database } from '@glovebox/database';
import { roles, type Role } from '@glovebox/access';
import { ask, signIn } from '../console/spec-console';
import { useTestApi } from '../spec-api';

const api = useTestApi({ CONSOLE_PORT: '0' });
const keys = {} as Record<Role, string>;
let data: Database;
let proxy: string;
let foreignProxy: string;

beforeAll(async () => {
  data = connectDatabase({ url: api.database.dataUrl, app: 'spec', connectionsMax: 4 });
  for (const role of roles) keys[role] = await signIn(api, role);
  const document = { name: 'p', destination_url: 'https://example.com' };
  proxy = (await api.made('/proxies', document)).id;
  foreignProxy = (await api.made('/proxies', document, api.foreign.management_key)).id;
});

afterAll(() => data.close());

const path = (id = proxy): string => `/proxies/${id}/captures`;
const text = expect.any(String) as string;
const lines = (operation: string) =>
  api.admin.query<{ entity_id: string; actor_id: string; reason: string | null }>(
    'SELECT * FROM audit_log WHERE operation = $1 ORDER BY id DESC',
    [operation],
  );

/** Keeps a call as a gateway does. */
async function kept(more: Partial<CapturedCall> = {}): Promise<string> {
  const id = timeOrderedId();
  await keepCapture(data, api.ctx.sealer, {
    ...{ tenantId: api.tenant.tenant_id, id, proxyId: proxy, traceId: 'trace', method: 'POST' },
    ...{ status: 200, code: undefined, isWhole: false },
    messages: { request: { method: 'POST', path: '/<string 3>', headers: [] } },
    ...more,
  });
  return id;
}

const settings = (allow_full_capture: string) =>
  api.put('/tenants/self', { name: 'Tenant', settings: { allow_full_capture } });

describe('POST /proxies/{id}/captures', () => {
  it('is in force at once and recorded, and leaves the proxy and its version as they are', async () => {
    const before = await api.get(`/proxies/${proxy}`);
    const started = await api.post(path(), { minutes: 60 });
    expect([started.status, started.body]).toEqual([
      201,
      { proxy_id: proxy, until: text, whole: false },
    ]);
    const { until } = started.body as { until: string };
    expect(Date.parse(until)).toBeGreaterThan(Date.now() + 59 * 60_000);
    expect(Date.parse(until)).toBeLessThanOrEqual(Date.now() + 60 * 60_000);
    expect(api.inForce('capture', proxy)).toMatchObject({ until, whole: false });
    const after = await api.get(`/proxies/${proxy}`);
    expect([after.headers.etag, after.body]).toEqual([before.headers.etag, before.body]);
    const [line] = await lines('proxy.capture_started');
    expect(line).toMatchObject({ entity_id: proxy, reason: `until ${until}` });
    expect((await api.get(path())).body).toMatchObject({ window: started.body });
  });

  it.each([0, 61, 1.5, '5'])('refuses %j minutes', async (minutes) => {
    const refused = await api.post(path(), { minutes });
    expect(refused.body).toMatchObject({ status: 400, errors: { minutes: [text] } });
  });

  it('keeps texts at the word of an admin alone, where the tenant allows it', async () => {
    const start = (key: string) =>
      ask(api, `/api${path()}`, { method: 'POST', key, body: { whole: true } });
    await settings('false');
    expect((await start(keys.admin)).status).toBe(403);
    await settings('true');
    expect((await api.post(path(), { whole: true })).status).toBe(403);
    expect((await start(keys.author)).status).toBe(403);
    const started = await start(keys.admin);
    expect([started.status, started.body]).toMatchObject([201, { whole: true }]);
    const [line] = await lines('proxy.capture_started');
    expect(line?.reason).toMatch(/, whole texts$/);
    await settings('false');
  });
});

it('DELETE /proxies/{id}/captures ends it at once, and is recorded where it was on', async () => {
  await api.post(path(), {});
  for (let nth = 0; nth < 2; nth += 1) expect((await api.delete(path())).status).toBe(204);
  expect(api.inForce('capture', proxy)).toBeUndefined();
  expect(
    (await lines('proxy.capture_ended')).filter((line) => line.entity_id === proxy).length,
  ).toBe(1);
  expect((await api.get(path())).body).not.toHaveProperty('window');
});

describe('what was captured', () => {
  it('is listed, the newest first, and read by authors and admins, each reading recorded', async () => {
    const ids = [await kept({ status: undefined, code: 'destination_timeout' }), await kept()];
    const { body } = await api.get(`${path()}?size=1`);
    const { data: page, pagination } = body as { data: { id: string }[]; pagination: object };
    expect(page).toMatchObject([{ id: ids[1], status: 200, bytes: expect.any(Number) as number }]);
    expect(pagination).toEqual({ page_size: 1, after: ids[1] });
    const rest = await api.get(`${path()}?after=${ids[1]}`);
    expect((rest.body as { data: object[] }).data).toEqual([
      expect.objectContaining({ id: ids[0], code: 'destination_timeout' }),
    ]);
    for (const role of roles) {
      const read = await ask(api, `/api${path()}/${ids[1]}`, { key: keys[role] });
      expect([role, read.status]).toEqual([role, role === 'viewer' ? 403 : 200]);
    }
    const { body: read } = await api.get(`${path()}/${ids[1]}`);
    expect(read).toMatchObject({ id: ids[1], request: { path: '/<string 3>' } });
    const readings = (await lines('capture.read')).filter((line) => line.entity_id === ids[1]);
    expect(new Set(readings.map((line) => line.actor_id)).size).toBe(3);
  });

  it('is shown with texts to an admin alone, as long as the tenant allows it', async () => {
    const id = await kept({ isWhole: true });
    const read = (key: string) => ask(api, `/api${path()}/${id}`, { key });
    await settings('true');
    expect((await read(keys.admin)).status).toBe(200);
    expect((await read(keys.author)).status).toBe(403);
    expect((await api.get(`${path()}/${id}`)).status).toBe(403);
    await settings('false');
    expect((await read(keys.admin)).status).toBe(403);
  });

  it('of one tenant and proxy is not found by another', async () => {
    const id = await kept();
    const other = (await api.made('/proxies', { name: 'o', destination_url: 'https://a.example' }))
      .id;
    for (const answer of [
      await api.get(`${path(other)}/${id}`),
      await api.get(`${path(foreignProxy)}/${id}`, api.foreign.management_key),
      await api.get(`${path()}/${randomUUID()}`),
      await api.get(`${path()}/1`),
    ]) {
      expect(answer.status).toBe(404);
    }
    const { body } = await api.get(path(foreignProxy), api.foreign.management_key);
    expect((body as { data: object[] }).data).toEqual([]);
  });

  it('is gone after a day, and with its proxy', async () => {
    const old = await kept();
    await api.admin.query(
      `UPDATE captures SET created_at = now() - interval '25 hours' WHERE id = $1`,
      [old],
    );
    expect((await api.get(`${path()}/${old}`)).status).toBe(404);
    const going = (await api.made('/proxies', { name: 'g', destination_url: 'https://a.example' }))
      .id;
    await api.post(path(going), {});
    await kept({ proxyId: going });
    expect((await api.delete(`/proxies/${going}`)).status).toBe(204);
    expect(api.inForce('capture', going)).toBeUndefined();
    expect(await api.admin.query('SELECT 1 FROM captures WHERE proxy_id = $1', [going])).toEqual(
      [],
    );
    expect((await lines('proxy.delete')).map((line) => line.entity_id)).toContain(going);
    expect(await lines('capture.delete')).toEqual([]);
  });

  it('of a tenant is at most 100 calls of 10 MiB, the newest, however many gateways write at once', async () => {
    const busy = randomUUID();
    const sealed = (bytes: number) => Buffer.alloc(bytes).toString('latin1');
    const write = (bytes: number) =>
      kept({
        proxyId: busy,
        messages: { request: { method: 'POST', path: sealed(bytes), headers: [] } },
      });
    await Promise.all(Array.from({ length: 130 }, () => write(10)));
    const state = async () => {
      const [row] = await api.admin.query<{ count: number; bytes: number }>(
        `SELECT count(*)::int AS count, sum(octet_length(messages))::int AS bytes FROM captures
         WHERE tenant_id = $1`,
        [api.tenant.tenant_id],
      );
      return row;
    };
    expect((await state())?.count).toBe(100);
    const newest = [];
    for (let nth = 0; nth < 50; nth += 1) newest.push(await write(40_000));
    const { count = 0, bytes = 0 } = (await state()) ?? {};
    expect(bytes).toBeLessThanOrEqual(10 * 1024 * 1024);
    expect(count).toBeLessThan(100);
    const ids = await api.admin.query<{ id: string }>(
      'SELECT id FROM captures WHERE proxy_id = $1',
      [busy],
    );
    expect(ids.map(({ id }) => id)).toContain(newest.at(-1));
  });
});
