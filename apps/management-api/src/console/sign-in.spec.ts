import { randomUUID } from 'node:crypto';
import { generateSessionKey } from '@glovebox/access';
import { asSql, inTenant } from '../database/in-tenant';
import { useTestApi, type TestProcess } from '../spec-api';
import { ask, codeOfLink, signIn } from './spec-console';

const api = useTestApi({ CONSOLE_PORT: '0', CONSOLE_TRUSTED_HOPS: '1' });
let other: TestProcess;
beforeAll(async () => {
  other = await api.startAnother();
});

const open = (code: unknown, process: TestProcess = api) =>
  ask(process, '/api/console/sessions', { method: 'POST', body: { code } });

describe('a link', () => {
  it('signs in as the operator of its tenant, once', async () => {
    const code = await codeOfLink(api);
    const opened = await open(code);
    const { tenant_id: id, name } = api.tenant;
    const session = {
      person: { id: expect.any(String) as string, name: 'operator' },
      role: 'admin',
      permissions: expect.arrayContaining([
        'log:read',
        'tenant:update',
        'token:delete',
      ]) as string[],
      tenant: { id, name },
      idle_minutes: 30,
    };
    expect([opened.status, opened.body]).toEqual([
      201,
      { ...session, key: expect.stringMatching(/^ses_\w{33}$/) as string },
    ]);
    const key = opened.body.key as string;
    const shown = await ask(api, '/api/console/session', { key });
    expect([shown.status, shown.body]).toEqual([200, session]);

    const again = await open(code);
    expect([again.status, again.body]).toMatchObject([401, { code: 'session_ended' }]);
  });

  it('that two follow at once, in two processes, signs in one of them', async () => {
    for (let tries = 0; tries < 10; tries += 1) {
      const code = await codeOfLink(api);
      const answers = await Promise.all([open(code), open(code, other), open(code)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
    }
  });

  it('signs in nobody after five minutes', async () => {
    const code = await codeOfLink(api);
    await api.admin.query(
      `UPDATE console_codes SET expires_at = expires_at - interval '5 minutes'`,
    );
    expect((await open(code)).status).toBe(401);
  });

  it('is nowhere in the database, and neither is the key that it gave', async () => {
    const code = await codeOfLink(api);
    const key = (await open(await codeOfLink(api))).body.key as string;
    const rows = await api.admin.query<{ row: string }>(
      `SELECT row_to_json(c)::text AS row FROM console_codes c
       UNION ALL SELECT row_to_json(s)::text FROM console_sessions s`,
    );
    const stored = rows.map(({ row }) => row).join();
    expect(stored).toContain('code_hash');
    expect(stored).toContain('key_hash');
    expect(stored).not.toContain(code);
    expect(stored).not.toContain(key);
  });

  it.each([[undefined], [1], [''], ['x'.repeat(43)], [{ a: 1 }]])(
    'is refused as the code %j',
    async (code) => {
      expect([400, 401]).toContain((await open(code)).status);
    },
  );
});

describe('a session', () => {
  it('that is signed out of is dead at once in every process', async () => {
    const key = await signIn(api);
    const paths = ['/api/console/session', '/api/calls', '/api/reactors', '/api/tenants/self'];
    const statuses = async (): Promise<number[]> =>
      Promise.all(
        [api, other].flatMap((process) =>
          paths.map(async (path) => (await ask(process, path, { key })).status),
        ),
      );
    expect(new Set(await statuses())).toEqual(new Set([200]));
    const ended = await ask(other, '/api/console/session', { method: 'DELETE', key });
    expect([ended.status, ended.text]).toEqual([204, '']);
    expect(new Set(await statuses())).toEqual(new Set([401]));
  });

  it('ends after 30 minutes without a request, and lives on as long as there are some', async () => {
    const key = await signIn(api);
    const status = async () => (await ask(api, '/api/console/session', { key })).status;
    const silentFor = (minutes: number) =>
      api.admin.query(
        `UPDATE console_sessions SET seen_at = now() - make_interval(mins => $1)
         WHERE key_hash = $2`,
        [minutes, api.ctx.keyHash(key)],
      );
    for (let hours = 0; hours < 3; hours += 1) {
      await silentFor(29);
      expect(await status()).toBe(200);
      expect(await status()).toBe(200);
    }
    await silentFor(30);
    expect(await status()).toBe(401);
  });

  it('ends after 12 hours, whatever happens in them', async () => {
    const key = await signIn(api);
    await api.admin.query(
      `UPDATE console_sessions SET created_at = now() - interval '12 hours' WHERE key_hash = $1`,
      [api.ctx.keyHash(key)],
    );
    expect((await ask(api, '/api/console/session', { key })).status).toBe(401);
  });

  it('is written once a minute, however many requests come', async () => {
    const key = await signIn(api);
    const seen = async () => {
      const [row] = await api.admin.query<{ xmin: string }>(
        'SELECT xmin FROM console_sessions WHERE key_hash = $1',
        [api.ctx.keyHash(key)],
      );
      return row?.xmin;
    };
    const before = await seen();
    await Promise.all(Array.from({ length: 20 }, () => ask(api, '/api/console/session', { key })));
    expect(await seen()).toBe(before);
  });

  it('is one of ten that a person has: the oldest ends', async () => {
    const keys: string[] = [];
    for (let nth = 0; nth < 11; nth += 1) keys.push(await signIn(api, 'viewer'));
    const statuses = await Promise.all(
      keys.map(async (key) => (await ask(api, '/api/console/session', { key })).status),
    );
    expect(statuses).toEqual([401, ...Array.from({ length: 10 }, () => 200)]);
  });
});

describe('sessions of others', () => {
  const personOf = async (key: string): Promise<string> =>
    ((await ask(api, '/api/console/session', { key })).body.person as { id: string }).id;
  const listed = async (path: string, key: string) => {
    const answer = await ask(api, `/api${path}`, { key });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    return answer.body as unknown as {
      pagination: { after?: string };
      data: Record<string, unknown>[];
    };
  };
  const statusOf = async (key: string) => (await ask(api, '/api/console/session', { key })).status;
  const end = (path: string, key: string) => ask(api, `/api${path}`, { method: 'DELETE', key });

  it('are listed for an admin, part by part, without keys and without those that are over', async () => {
    const admin = await signIn(api);
    const [author, over] = [await signIn(api, 'author'), await signIn(api, 'author')];
    await signIn(api, 'viewer', api.foreign.tenant_id);
    await api.admin.query(
      `UPDATE console_sessions SET seen_at = now() - interval '30 minutes' WHERE key_hash = $1`,
      [api.ctx.keyHash(over)],
    );
    const personId = await personOf(author);
    const own = await listed(`/sessions?person_id=${personId}`, admin);
    expect(own.data).toEqual([
      {
        id: expect.any(String) as string,
        person: {
          ...{ id: personId, name: 'operator (author)', role: 'author' },
          ...{ issuer: 'link', subject: 'operator (author)' },
        },
        created_at: expect.any(String) as string,
        seen_at: expect.any(String) as string,
      },
    ]);
    const [all] = await api.admin.query<{ count: number }>(
      `SELECT count(*)::int FROM console_sessions
       WHERE tenant_id = $1 AND seen_at > now() - interval '30 minutes'
         AND created_at > now() - interval '12 hours'`,
      [api.tenant.tenant_id],
    );
    const seen = new Set<unknown>();
    for (let after: string | undefined = ''; after !== undefined;) {
      const { pagination, data } = await listed(`/sessions?size=3${after}`, admin);
      for (const { id } of data) seen.add(id);
      after = pagination.after && `&after=${pagination.after}`;
    }
    expect(seen.size).toBe(all?.count);
    const byKey = await api.get('/sessions');
    expect([byKey.status, byKey.text.includes('ses_')]).toEqual([200, false]);
  });

  it('are ended by an admin, one or all of a person, at once in every process, and recorded', async () => {
    const admin = await signIn(api);
    const keys: string[] = [];
    for (let nth = 0; nth < 3; nth += 1) keys.push(await signIn(api, 'author'));
    const unused = await codeOfLink(api, 'author');
    const personId = await personOf(keys[0] ?? '');
    const [newest] = (await listed(`/sessions?person_id=${personId}`, admin)).data;
    const path = `/sessions/${String(newest?.id)}`;
    const statuses = () => Promise.all(keys.map(statusOf));
    expect((await end(path, admin)).status).toBe(204);
    expect(await statuses()).toEqual([200, 200, 401]);
    expect((await end(path, admin)).status).toBe(404);
    expect((await end(`/people/${personId}/sessions`, admin)).status).toBe(204);
    expect(await statuses()).toEqual([401, 401, 401]);
    expect((await ask(other, '/api/calls', { key: keys[1] ?? '' })).status).toBe(401);
    expect((await open(unused)).status).toBe(401);
    expect(await statusOf(admin)).toBe(200);
    const lines = await listed(`/logs?operation=console.end_sessions&entity_id=${personId}`, admin);
    const actor = { type: 'person', name: 'operator' };
    expect(lines.data).toMatchObject([{ actor }, { actor }]);
    expect(await statusOf(await signIn(api, 'author'))).toBe(200);
  });

  it('of another tenant are not there, and viewers and authors see and end none', async () => {
    const [admin, foreign] = [await signIn(api), await signIn(api, 'admin', api.foreign.tenant_id)];
    const personId = await personOf(foreign);
    const [theirs] = (await listed('/sessions', foreign)).data;
    expect((await listed(`/sessions?person_id=${personId}`, admin)).data).toEqual([]);
    for (const path of [`/sessions/${String(theirs?.id)}`, `/people/${personId}/sessions`]) {
      expect([path, (await end(path, admin)).status]).toEqual([path, 404]);
      for (const role of ['viewer', 'author'] as const) {
        const key = await signIn(api, role, api.foreign.tenant_id);
        expect([path, role, (await end(path, key)).status]).toEqual([path, role, 403]);
        expect((await ask(api, '/api/sessions', { key })).status).toBe(403);
      }
    }
    expect(await statusOf(foreign)).toBe(200);
  });
});

describe('a flood from one address', () => {
  const from = (address: string) => ({ 'X-Forwarded-For': `203.0.113.9, ${address}` });
  /** Counts the answers by their status. */
  const flood = async (count: number, send: () => Promise<{ readonly status: number }>) => {
    const statuses: number[] = [];
    while (statuses.length < count) {
      const some = await Promise.all(Array.from({ length: 50 }, send));
      statuses.push(...some.map(({ status }) => status));
    }
    return (status: number): number => statuses.filter((each) => each === status).length;
  };

  it('of made-up keys asks Postgres for a part, and ends no session, not even there', async () => {
    const key = await signIn(api);
    const there = from('192.0.2.1');
    const get = (one: string, headers: Record<string, string>) =>
      ask(api, '/api/console/session', { key: one, headers });
    expect((await get(key, there)).status).toBe(200);
    const answered = await flood(1_000, () => get(generateSessionKey(), there));
    expect(answered(401)).toBeGreaterThanOrEqual(290);
    expect(answered(401)).toBeLessThan(500);
    expect(answered(401) + answered(429)).toBe(1_000);
    expect((await get(key, there)).status).toBe(200);
    expect((await get(await signIn(api), from('192.0.2.2'))).status).toBe(200);
  });

  it('of made-up codes is refused, and others sign in', async () => {
    const send = (code: string, headers: Record<string, string>) =>
      ask(api, '/api/console/sessions', { method: 'POST', body: { code }, headers });
    const answered = await flood(400, () => send('x'.repeat(43), from('192.0.2.3')));
    expect(answered(401)).toBeLessThan(200);
    expect(answered(401) + answered(429)).toBe(400);
    const refused = await send(await codeOfLink(api), from('192.0.2.3'));
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await send(await codeOfLink(api), from('192.0.2.4'))).status).toBe(201);
  });
});

describe('keys', () => {
  it('of sessions open nothing on the main port, and those of applications nothing here', async () => {
    const key = await signIn(api);
    expect((await api.get('/tenants/self', key)).status).toBe(401);
    const refused = await ask(api, '/api/tenants/self', { key: api.tenant.management_key });
    expect([refused.status, refused.body]).toMatchObject([401, { code: 'session_ended' }]);
  });

  it.each(['/console', '/console/', '/console/session', '/console/sessions', '/console/x'])(
    'are asked for by nothing under %s of the main port',
    async (path) => {
      const key = await signIn(api);
      for (const method of ['GET', 'POST', 'DELETE']) {
        const answer = await fetch(`http://127.0.0.1:${api.port}${path}`, {
          method,
          headers: { 'SVC-API-KEY': key },
        });
        expect([method, answer.status]).toEqual([method, 404]);
      }
    },
  );
});

it('no row of the console is shown to, changed by or made by another tenant, even without a condition', async () => {
  await signIn(api);
  await codeOfLink(api);
  const { dataSource } = api.ctx;
  const asStranger = (statement: string) =>
    inTenant(dataSource, randomUUID(), (manager) => asSql(manager).query(statement));
  for (const [table, change] of [
    ['people', `role = 'admin'`],
    ['console_codes', 'expires_at = now()'],
    ['console_sessions', 'seen_at = now()'],
  ]) {
    const rows = () => api.admin.query(`SELECT * FROM ${table} ORDER BY 1`);
    const before = await rows();
    expect([table, before.length > 0]).toEqual([table, true]);
    for (const statement of [
      `SELECT * FROM ${table}`,
      `UPDATE ${table} SET ${change} RETURNING *`,
      `DELETE FROM ${table} RETURNING *`,
    ]) {
      expect([statement, await asStranger(statement)]).toEqual([statement, []]);
    }
    expect(await rows()).toEqual(before);
  }
  const { tenant_id: tenantId } = api.tenant;
  await expect(
    asStranger(
      `INSERT INTO people (id, tenant_id, issuer, subject, name, role, created_at)
       VALUES (gen_random_uuid(), '${tenantId}', 'x', 'x', 'x', 'admin', now())`,
    ),
  ).rejects.toThrow('row-level security');
});
