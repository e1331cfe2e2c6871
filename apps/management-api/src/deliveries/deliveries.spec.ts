import { randomUUID } from 'node:crypto';
import { timeOrderedId } from '@glovebox/database';
import { webhookPlace } from '@glovebox/runs';
import { rule, useTestApi } from '../spec-api';
import { DataPlane } from '../runs/spec-data-plane';

const api = useTestApi({ RUNS_PENDING_MAX: '20' });
let data: DataPlane;
let tenantId: string;

beforeAll(() => {
  data = new DataPlane(api.ctx, api.database.dataUrl);
  tenantId = api.tenant.tenant_id;
});
afterAll(() => data.close());
beforeEach(async () => {
  for (const table of ['reactor_runs', 'webhook_deliveries', 'ended_deliveries']) {
    await api.admin.query(`DELETE FROM ${table}`);
  }
});

interface Shown {
  id: string;
  status: string;
}

const get = async (path: string, key?: string) => {
  const answer = await api.get(path, key);
  return { status: answer.status, body: answer.body as Record<string, unknown> };
};
const idsOf = async (query: string): Promise<string[]> => {
  const { status, body } = await get(`/webhook-deliveries${query}`);
  expect([query, status]).toEqual([query, 200]);
  return (body.data as Shown[]).map(({ id }) => id);
};
const post = async (path: string, body: unknown = {}, key?: string) => {
  const answer = await api.post(`/webhook-deliveries${path}`, body, key);
  return { status: answer.status, body: answer.body as Record<string, unknown> };
};
const replayed = (matched: number, queued: number, gone = 0) => ({
  status: 202,
  body: { matched, queued, gone },
});

describe('webhooks', () => {
  it('are shown with their attempts and their host, and without URL and body', async () => {
    const reactorId = randomUUID();
    const url = 'https://shop.example:8443/hook?secret=sesame';
    const waiting = await data.webhook(tenantId, { reactorId, url });
    const ended = await data.webhook(tenantId, { reactorId, url, ended: { status: 'failed' } });
    const attempts = [{ at: new Date(0).toISOString(), ms: 5, status: 500, outcome: 'rejected' }];
    const time = expect.stringMatching(/^20.*Z$/) as string;
    const both = { reactor_id: reactorId, host: 'shop.example', attempts, created_at: time };
    const shown = {
      ...{ ...both, id: ended, run_id: ended, webhook_id: `msg_${ended}`, status: 'failed' },
      ...{ outcome: 'rejected', replayable: true, ended_at: time },
    };
    const underWay = {
      ...{ ...both, id: waiting, run_id: waiting, webhook_id: `msg_${waiting}` },
      ...{ status: 'pending', replayable: false, next_attempt_at: time },
    };
    const list = await get('/webhook-deliveries');
    expect(list.body).toEqual({ pagination: { page_size: 20 }, data: [shown, underWay] });
    expect(await get(`/webhook-deliveries/${ended}`)).toEqual({ status: 200, body: shown });
    expect(await get(`/webhook-deliveries/${waiting.toUpperCase()}`)).toEqual({
      status: 200,
      body: underWay,
    });
  });

  it('come in parts, the newest first', async () => {
    const ids: string[] = [];
    for (let nth = 0; nth < 5; nth += 1) {
      const ended = nth % 2 === 0 ? { ended: { status: 'delivered' } as const } : {};
      const id = timeOrderedId(Date.now() - 1_000 + nth);
      ids.unshift(await data.webhook(tenantId, { id, ...ended }));
    }
    expect(await idsOf('?size=2')).toEqual(ids.slice(0, 2));
    const { body } = await get('/webhook-deliveries?size=2');
    expect(body.pagination).toEqual({ page_size: 2, after: ids[1] });
    expect(await idsOf(`?size=2&after=${ids[1]}`)).toEqual(ids.slice(2, 4));
    expect(await idsOf(`?after=${ids[3]}`)).toEqual(ids.slice(4));
  });

  it('are filtered by status, reactor, host and time', async () => {
    const reactorId = randomUUID();
    const day = (date: number): string => timeOrderedId(Date.UTC(2026, 0, date));
    const of = (id: string, url: string, ended?: 'delivered' | 'failed') =>
      data.webhook(tenantId, {
        id,
        url,
        reactorId,
        ...(ended ? { ended: { status: ended } } : {}),
      });
    const first = await of(day(1), 'https://a.example/', 'delivered');
    const second = await of(day(2), 'https://a.example:444/x', 'failed');
    const third = await of(day(3), 'https://b.example/');
    const other = await data.webhook(tenantId, { id: day(4), url: 'https://[2001:db8::1]/' });
    const cases: [string, string[]][] = [
      ['', [other, third, second, first]],
      ['?status=delivered', [first]],
      ['?status=failed', [second]],
      ['?status=pending', [other, third]],
      [`?reactor_id=${reactorId}`, [third, second, first]],
      ['?host=a.example', [second, first]],
      ['?host=A.EXAMPLE&status=failed', [second]],
      ['?host=2001:db8::1', [other]],
      ['?host=%5B2001:db8:0::1%5D', [other]],
      ['?host=c.example', []],
      ['?from=2026-01-02T00:00:00Z&to=2026-01-03T00:00:00Z', [third, second]],
    ];
    for (const [query, ids] of cases) expect([query, await idsOf(query)]).toEqual([query, ids]);
  });

  it('are found by the trace id of the call that started their run', async () => {
    const ids: string[] = [];
    for (const ended of [{ status: 'failed' } as const, undefined]) {
      const id = await data.run(tenantId, {}, { mode: 'async', traceId: 'order-7' });
      ids.unshift(await data.webhook(tenantId, { id, ...(ended ? { ended } : {}) }));
    }
    await data.webhook(tenantId);
    const foreign = await data.run(api.foreign.tenant_id, {}, { traceId: 'order-7' });
    await data.webhook(tenantId, { id: foreign });
    expect(await idsOf('?trace_id=order-7')).toEqual(ids);
    expect(await idsOf('?trace_id=order-7&status=failed')).toEqual([ids[1]]);
    expect(await idsOf('?trace_id=order')).toEqual([]);
  });

  it.each([
    ['after=1', 'after'],
    ['status=done', 'status'],
    ['reactor_id=1', 'reactor_id'],
    ['host=a.example:443', 'host'],
    ['host=a.example:80', 'host'],
    ['host=https://a.example', 'host'],
    ['host=a/b', 'host'],
    [`host=${'a'.repeat(256)}`, 'host'],
    ['from=now', 'from'],
    ['to=2026-13-01T00:00:00Z', 'to'],
    ['size=101', 'size'],
    [`trace_id=${'x'.repeat(65)}`, 'trace_id'],
    ['trace=1', 'trace'],
  ])('are not listed for %s: 400', async (query, member) => {
    const { status, body } = await get(`/webhook-deliveries?${query}`);
    expect([status, Object.keys(body.errors as object)]).toEqual([400, [member]]);
  });

  it('of another tenant are not shown, and an unknown one is 404', async () => {
    const foreign = await data.webhook(api.foreign.tenant_id, { ended: { status: 'failed' } });
    expect(await idsOf('')).toEqual([]);
    for (const id of [foreign, randomUUID(), 'nope']) {
      expect((await get(`/webhook-deliveries/${id}`)).status).toBe(404);
    }
  });

  it('need log:read', async () => {
    const other = await api.keyWith('management', ['tenant:update']);
    for (const path of ['/webhook-deliveries', `/webhook-deliveries/${randomUUID()}`]) {
      expect((await get(path, other)).status).toBe(403);
      expect((await get(path, 'nobody')).status).toBe(401);
    }
  });
});

describe('the replay of a webhook', () => {
  const row = async (id: string) => {
    const [found] = await api.admin.query<{ body: Buffer }>(
      `SELECT webhook_id AS "webhookId", status, attempts, attempt_log AS listed, body, fence,
         next_attempt_at <= now() AS due FROM webhook_deliveries WHERE id = $1`,
      [id],
    );
    return found;
  };

  it('makes it due with the same id and body, and keeps its attempts in the list', async () => {
    const id = await data.webhook(tenantId, { ended: { status: 'delivered' } });
    expect(await post(`/${id}/replay`)).toEqual(replayed(1, 1));
    const queued = await row(id);
    expect(queued).toMatchObject({
      webhookId: `msg_${id}`,
      status: 'pending',
      attempts: 0,
      listed: [{ status: 500 }],
      due: true,
    });
    const place = webhookPlace(tenantId, id, 'body');
    const body = await api.ctx.sealer.open(place, queued?.body ?? Buffer.of());
    expect(body.toString()).toBe('{"raw":1}');
    expect(await api.admin.query('SELECT 1 FROM ended_deliveries')).toEqual([]);
    expect((await get(`/webhook-deliveries/${id}`)).body).toMatchObject({ status: 'pending' });
  });

  it('is recorded in the audit log', async () => {
    const id = await data.webhook(tenantId, { ended: { status: 'failed' } });
    await post(`/${id}/replay`);
    const { body } = await get(`/logs?operation=webhook_delivery.replay&entity_id=${id}`);
    expect(body.data).toMatchObject([{ entity_type: 'webhook_delivery', outcome: 'success' }]);
  });

  it('that waits for its next attempt makes it due, also where nothing more may wait', async () => {
    const id = await data.webhook(tenantId);
    const waits = (place: number | null) =>
      api.admin.query(
        `UPDATE webhook_deliveries SET attempts = 7, place = $2,
           next_attempt_at = now() + interval '1 hour' WHERE id = $1`,
        [id, place],
      );
    await waits(3);
    expect(await post(`/${id}/replay`)).toMatchObject({ status: 409 });
    await waits(null);
    for (let nth = 0; nth < 20; nth += 1) await data.webhook(tenantId);
    expect(await post(`/${id}/replay`)).toEqual(replayed(1, 1));
    expect(await row(id)).toMatchObject({ webhookId: `msg_${id}`, attempts: 0, due: true });
    const { body } = await get(`/logs?operation=webhook_delivery.replay&entity_id=${id}`);
    expect(body.data).toHaveLength(1);
  });

  it('under way is a conflict', async () => {
    const id = await data.webhook(tenantId);
    expect(await post(`/${id}/replay`)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: 'The webhook is under way.' },
    });
    const again = await data.webhook(tenantId, { ended: { status: 'failed' } });
    const answers = await Promise.all([post(`/${again}/replay`), post(`/${again}/replay`)]);
    const queued = answers.map(({ status, body }) => (status === 202 ? body.queued : 'conflict'));
    expect(queued.filter((one) => one === 1)).toHaveLength(1);
  });

  it('is a conflict where another replay took it at the same moment', async () => {
    const id = await data.webhook(tenantId, { ended: { status: 'delivered' } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(`/${id}/replay`)));
    const queued = answers.filter(({ status }) => status === 202);
    expect(queued).toEqual([replayed(1, 1)]);
    const others = answers.filter(({ status }) => status !== 202);
    expect(others.map(({ body }) => body.code)).toEqual(others.map(() => 'conflict'));
  });

  it('whose body was erased is a conflict', async () => {
    const ended = { status: 'failed', ago: '25 hours' } as const;
    const id = await data.webhook(tenantId, { ended });
    await data.database.query('SELECT erase_ended_bodies(10)');
    expect(await post(`/${id}/replay`)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: 'The body of the webhook has been erased.' },
    });
    expect((await get(`/webhook-deliveries/${id}`)).body).toMatchObject({ replayable: false });
  });

  it('leaves out and counts what could not be opened now, by hand and by filter', async () => {
    const caller = await api.made<{ id: string; key: string }>('/applications', {
      name: 'replayed',
      type: 'private',
      rules: [{ ...rule('reveal', '/pci/', ['token:create', 'token:use', 'token:delete']) }],
    });
    const reactorId = randomUUID();
    const ended = { status: 'failed' } as const;
    const token = () => api.storedToken({ data: 'x', containers: ['/pci/'] }, caller.key);
    const madeAt = async (id: string): Promise<number> => {
      const statement = 'SELECT created_at AS at FROM tokens WHERE id = $1';
      const [row] = await api.admin.query<{ at: Date }>(statement, [id]);
      return row?.at.getTime() ?? 0;
    };
    const webhookOf = async (id: string, container = '/pci/'): Promise<string> => {
      const sight = {
        applicationId: caller.id,
        permission: 'token:use',
        transform: 'reveal',
      } as const;
      const sights = [{ ...sight, container, ids: [id], madeAt: [await madeAt(id)] }];
      return data.webhook(tenantId, { reactorId, ended, sights });
    };
    const tokens = [await token(), await token(), await token()];
    const [shown, deleted, alone] = await Promise.all(tokens.map((id) => webhookOf(id)));
    for (const id of tokens.slice(1)) await api.delete(`/tokens/${id}`, caller.key);
    const unknown = await data.webhook(tenantId, { reactorId, ended, sights: null });
    expect(await post(`/${alone}/replay`)).toEqual(replayed(1, 0, 1));
    expect(await post('/replay', { filter: { reactor_id: reactorId } })).toEqual(replayed(4, 1, 3));
    expect(await idsOf('?status=pending')).toEqual([shown]);
    const logs = `/logs?operation=webhook_delivery.replay&entity_id=${deleted}`;
    expect((await get(logs)).body.data).toMatchObject([{ outcome: 'refused' }]);

    await api.admin.query('DELETE FROM webhook_deliveries');
    const refused = await webhookOf(await token());
    await api.patch(`/applications/${caller.id}`, {
      rules: [rule('redact', '/pci/', ['token:use'])],
    });
    expect(await post(`/${refused}/replay`)).toEqual(replayed(1, 0, 1));
    expect(new Set(await idsOf('?status=failed'))).toEqual(
      new Set([refused, deleted, alone, unknown]),
    );
  });

  it('that is unknown or foreign is 404, and changes nothing', async () => {
    const foreign = await data.webhook(api.foreign.tenant_id, { ended: { status: 'failed' } });
    for (const id of [foreign, randomUUID(), 'nope']) {
      expect((await post(`/${id}/replay`)).status).toBe(404);
    }
    expect(await post('/replay', { filter: {} })).toEqual(replayed(0, 0));
    expect(await api.admin.query('SELECT id FROM ended_deliveries')).toEqual([{ id: foreign }]);
  });

  it('needs tenant:update', async () => {
    const reader = await api.keyWith('management', ['log:read', 'tenant:read']);
    const id = await data.webhook(tenantId, { ended: { status: 'failed' } });
    for (const path of [`/${id}/replay`, '/replay']) {
      expect((await post(path, { filter: {} }, reader)).status).toBe(403);
      expect((await post(path, { filter: {} }, 'nobody')).status).toBe(401);
    }
  });

  it('with an idempotency key happens once', async () => {
    const id = await data.webhook(tenantId, { ended: { status: 'failed' } });
    const send = () =>
      api.post(`/webhook-deliveries/${id}/replay`, {}).set('SVC-IDEMPOTENCY-KEY', `again-${id}`);
    expect((await send()).status).toBe(202);
    const repeated = await send();
    expect([repeated.status, repeated.body, repeated.headers['svc-idempotent-replay']]).toEqual([
      202,
      { matched: 1, queued: 1, gone: 0 },
      'true',
    ]);
  });

  it('by filter takes those that match, the newest first, up to the limit', async () => {
    const reactorId = randomUUID();
    const ids: string[] = [];
    for (let nth = 0; nth < 5; nth += 1) {
      const id = timeOrderedId(Date.now() - 1_000 + nth);
      ids.unshift(await data.webhook(tenantId, { id, reactorId, ended: { status: 'failed' } }));
    }
    const others = [
      await data.webhook(tenantId, { reactorId, ended: { status: 'delivered' } }),
      await data.webhook(tenantId, { ended: { status: 'failed' } }),
      await data.webhook(tenantId, {
        reactorId,
        url: 'https://b.example/',
        ended: { status: 'failed' },
      }),
    ];
    const underWay = await data.webhook(tenantId, { reactorId });
    const erased = await data.webhook(tenantId, {
      reactorId,
      body: null,
      ended: { status: 'failed' },
    });
    const filter = { status: 'failed', reactor_id: reactorId, host: 'SHOP.example' };
    expect(await post('/replay', { filter, limit: 3 })).toEqual(replayed(3, 2));
    expect(await post('/replay', { filter })).toEqual(replayed(4, 3));
    expect(await post('/replay', { filter })).toEqual(replayed(1, 0));
    const waiting = await idsOf('?status=pending');
    expect(new Set(waiting)).toEqual(new Set([underWay, ...ids]));
    expect(new Set(await idsOf('?status=failed'))).toEqual(new Set([erased, others[1], others[2]]));
  });

  it('by filter says before how many it would send, and then sends and records none', async () => {
    const reactorId = randomUUID();
    for (let nth = 0; nth < 5; nth += 1) {
      await data.webhook(tenantId, { reactorId, ended: { status: 'failed' } });
    }
    const erased = { reactorId, body: null, ended: { status: 'failed' } } as const;
    await data.webhook(tenantId, erased);
    const gone = { applicationId: randomUUID(), permission: 'token:use' } as const;
    const sight = {
      ...gone,
      container: '/',
      transform: 'reveal',
      ids: ['x'],
      madeAt: [1],
    } as const;
    const unopened = await data.webhook(tenantId, {
      ...{ reactorId, sights: [sight], ended: { status: 'failed' } },
    });
    const filter = { status: 'failed', reactor_id: reactorId };
    const count = (body: object) => post('/replay', { filter, dry_run: true, ...body });
    const failed = await idsOf('?status=failed');
    expect(await count({})).toEqual({ status: 200, body: { count: 5 } });
    expect(await count({ limit: 3 })).toEqual({ status: 200, body: { count: 1 } });
    expect(await count({ filter: { ...filter, host: 'b.example' } })).toEqual({
      ...{ status: 200, body: { count: 0 } },
    });
    expect(await idsOf('?status=failed')).toEqual(failed);
    const lines = `/logs?operation=webhook_delivery.replay&entity_id=${unopened}`;
    expect((await get(lines)).body.data).toEqual([]);
    const key = { 'SVC-IDEMPOTENCY-KEY': 'counted' };
    const body = { filter, dry_run: true };
    await api.post('/webhook-deliveries/replay', body).set(key);
    expect(await post('/replay', { filter, dry_run: false })).toEqual(replayed(7, 5, 1));
    const again = await api.post('/webhook-deliveries/replay', body).set(key);
    expect([again.status, again.body]).toEqual([200, { count: 0 }]);
  });

  it('by filter takes a span of time', async () => {
    const at = (date: number): string => timeOrderedId(Date.UTC(2026, 0, date));
    for (const date of [1, 2, 3]) {
      await data.webhook(tenantId, { id: at(date), ended: { status: 'failed' } });
    }
    const filter = { from: '2026-01-02T00:00:00Z', to: '2026-01-02T23:59:59Z' };
    expect(await post('/replay', { filter })).toEqual(replayed(1, 1));
  });

  it('stops where the tenant has as much waiting as it may, and is then refused', async () => {
    for (let nth = 0; nth < 18; nth += 1) await data.webhook(tenantId);
    for (let nth = 0; nth < 5; nth += 1) {
      await data.webhook(tenantId, { ended: { status: 'failed' } });
    }
    expect(await post('/replay', { filter: {} })).toEqual(replayed(5, 2));
    expect(await post('/replay', { filter: {} })).toMatchObject({
      status: 429,
      body: { code: 'share_exhausted' },
    });
    const [id] = await idsOf('?status=failed');
    expect((await post(`/${id}/replay`)).status).toBe(429);
    expect(await idsOf('?status=failed')).toHaveLength(3);
  });

  it.each<[string, unknown, string]>([
    ['no filter', {}, 'filter'],
    ['a filter that is a list', { filter: [] }, 'filter'],
    ['webhooks under way', { filter: { status: 'pending' } }, 'filter.status'],
    ['a reactor that is no UUID', { filter: { reactor_id: '1' } }, 'filter.reactor_id'],
    ['a host with a port', { filter: { host: 'a.example:1' } }, 'filter.host'],
    ['an empty host', { filter: { host: '' } }, 'filter.host'],
    ['a time without an offset', { filter: { from: '2026-01-01T00:00:00' } }, 'filter.from'],
    ['a date', { filter: { to: '2026-01-01' } }, 'filter.to'],
    ['a limit of none', { filter: {}, limit: 0 }, 'limit'],
    ['a limit above 1,000', { filter: {}, limit: 1_001 }, 'limit'],
    ['half a limit', { filter: {}, limit: 1.5 }, 'limit'],
    ['half a dry run', { filter: {}, dry_run: 'true' }, 'dry_run'],
  ])('by filter is refused for %s: 400', async (_, body, member) => {
    const refused = await post('/replay', body);
    expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([400, [member]]);
  });
});
