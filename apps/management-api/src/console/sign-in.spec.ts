import { asSql, inTenant } from '../database/in-tenant';
import { useTestApi, type TestProcess } from '../spec-api';
import { ask, codeOfLink, signIn } from './spec-console';

const api = useTestApi({ CONSOLE_PORT: '0' });
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

it('no row of the console is shown to another tenant, even without a condition', async () => {
  await signIn(api);
  await codeOfLink(api);
  for (const table of ['people', 'console_codes', 'console_sessions']) {
    const [all] = await api.admin.query<{ rows: string }>(`SELECT count(*) AS rows FROM ${table}`);
    expect([table, Number(all?.rows) > 0]).toEqual([table, true]);
    const { tenant_id: foreign } = api.foreign;
    const shown = await inTenant(api.ctx.dataSource, foreign, (manager) =>
      asSql(manager).query(`SELECT * FROM ${table}`),
    );
    expect([table, shown]).toEqual([table, []]);
  }
});
