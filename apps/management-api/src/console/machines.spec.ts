import { useTestApi, type TestProcess } from '../spec-api';
import { ask, signIn, type ConsoleAnswer } from './spec-console';

const api = useTestApi({ CONSOLE_PORT: '0', CONSOLE_TRUSTED_HOPS: '1' });
let other: TestProcess;
beforeAll(async () => {
  other = await api.startAnother();
});

interface Begun {
  readonly device_code: string;
  readonly user_code: string;
}

const post = (path: string, body: object, key?: string, process: TestProcess = api) =>
  ask(process, `/api/console/machines${path}`, {
    ...{ method: 'POST', body },
    ...(key === undefined ? {} : { key }),
  });
const begin = async (machine = 'laptop'): Promise<Begun> => {
  const answer = await post('', { machine });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.body as unknown as Begun;
};
const take = ({ device_code }: Begun, process?: TestProcess): Promise<ConsoleAnswer> =>
  post('/session', { device_code }, undefined, process);
const decide = ({ user_code }: Begun, key: string, confirm = true): Promise<ConsoleAnswer> =>
  post('/decide', { user_code, confirm }, key);

/** Signs in a machine as a person of the role. Returns the key of its session. */
async function signedIn(role: 'viewer' | 'author' | 'admin' = 'author'): Promise<string> {
  const begun = await begin();
  expect((await decide(begun, await signIn(api, role))).status).toBe(204);
  return String((await take(begun)).body.key);
}
const statusOf = async (key: string, process: TestProcess = api): Promise<number> =>
  (await ask(process, '/api/console/session', { key })).status;
const operations = async (): Promise<string[]> => {
  const rows = await api.admin.query<{ operation: string }>(
    `SELECT operation FROM audit_log WHERE operation LIKE 'console.%machine' ORDER BY id DESC LIMIT 2`,
  );
  return rows.map(({ operation }) => operation);
};

describe('a command line that asks to be signed in', () => {
  it('gets a session of whoever confirms it, once, with what this person may do', async () => {
    const begun = await begin('build-7');
    expect(begun).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/) as string,
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/) as string,
      expires_in: 600,
      interval: 2,
    });
    expect([(await take(begun)).status, (await take(begun, other)).status]).toEqual([202, 202]);
    const person = await signIn(api, 'author');
    const shown = await post('/find', { user_code: begun.user_code.toLowerCase() }, person, other);
    expect([shown.status, shown.body]).toMatchObject([
      200,
      { machine: 'build-7', network: '127.0.0.1', role: 'author' },
    ]);
    expect(shown.body.permissions).toContain('reactor:update');
    expect(shown.body.permissions).not.toContain('deployment:create');
    expect((await decide(begun, person)).status).toBe(204);

    const answers = await Promise.all([take(begun), take(begun, other), take(begun)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
    const { body } = answers.find(({ status }) => status === 201) ?? answers[0];
    expect(body).toMatchObject({ role: 'author', key: expect.stringMatching(/^ses_/) as string });
    const key = String(body.key);
    expect([await statusOf(key), await statusOf(key, other)]).toEqual([200, 200]);
    expect((await ask(api, '/api/reactors', { key })).status).toBe(200);
    const set = { method: 'POST', key, body: { items: [] } };
    expect((await ask(api, '/api/deployments', set)).status).toBe(403);
    expect((await api.get('/reactors', key)).status).toBe(401);
    expect(await operations()).toEqual(['console.sign_in_machine', 'console.confirm_machine']);
  });

  it('is told when it was refused, and its code decides nothing more', async () => {
    const begun = await begin();
    const person = await signIn(api, 'admin');
    expect((await decide(begun, person, false)).status).toBe(204);
    expect((await decide(begun, person)).status).toBe(404);
    expect((await post('/find', { user_code: begun.user_code }, person)).status).toBe(404);
    expect((await take(begun)).body).toMatchObject({ code: 'permission_denied' });
    expect((await operations())[0]).toBe('console.refuse_machine');
  });

  it('is forgotten after ten minutes', async () => {
    const [early, late] = [await begin(), await begin()];
    const person = await signIn(api);
    await decide(early, person);
    await api.admin.query(`UPDATE console_machines SET expires_at = now() - interval '1 second'`);
    expect((await take(early)).status).toBe(401);
    expect((await decide(late, person)).status).toBe(404);
  });

  it('gets nothing once the person has lost the role, or all of their sessions were ended', async () => {
    const begun = await begin();
    await decide(begun, await signIn(api, 'viewer'));
    const people = `subject = 'operator (viewer)'`;
    await api.admin.query(`UPDATE people SET role = 'none' WHERE ${people}`);
    expect((await take(begun)).status).toBe(401);
    await api.admin.query(`UPDATE people SET role = 'viewer' WHERE ${people}`);
    expect((await take(begun)).status).toBe(401);

    const again = await begin();
    await decide(again, await signIn(api, 'viewer'));
    const [row] = await api.admin.query<{ id: string }>(`SELECT id FROM people WHERE ${people}`);
    expect((await api.delete(`/people/${row?.id}/sessions`)).status).toBe(204);
    expect((await take(again)).status).toBe(401);
  });

  it('stands in the database by hashes of its codes alone', async () => {
    const begun = await begin();
    const rows = await api.admin.query<{ row: string }>(
      'SELECT row_to_json(m)::text AS row FROM console_machines m',
    );
    const stored = rows.map(({ row }) => row).join();
    expect(stored).toContain('code_hash');
    expect(stored).not.toContain(begun.device_code);
    expect(stored).not.toContain(begun.user_code.replace('-', ''));
  });

  it.each([[undefined], [7], [''], ['x'.repeat(101)], ['a\nb'], ['b\u00fcro']])(
    'is not heard with the name %j',
    async (machine) => {
      expect((await post('', { machine })).status).toBe(400);
    },
  );

  /** Command lines that begin after those that there are. */
  const flood = (machines: number, network = 'of the flood'): Promise<unknown> =>
    api.admin.query(
      `INSERT INTO console_machines
         (device_hash, code_hash, machine, network, begun_at, expires_at)
       SELECT 'of ' || n, 'of ' || n, '', $2, now(), now() + interval '11 minutes'
       FROM generate_series(1, $1::int) n`,
      [machines, network],
    );
  afterEach(() => api.admin.query(`DELETE FROM console_machines WHERE device_hash LIKE 'of %'`));

  it('is one of 10,000 at most: the oldest that is undecided goes', async () => {
    const [confirmed, first] = [await begin(), await begin()];
    await decide(confirmed, await signIn(api));
    await flood(10_000);
    const last = await begin();
    const answers = [await take(confirmed), await take(first), await take(last)];
    expect(answers.map(({ status }) => status)).toEqual([201, 401, 202]);
  });

  it('is one of 200 at most of its network: the oldest of them goes', async () => {
    const first = await begin();
    await flood(200);
    const second = await begin();
    expect((await take(first)).status).toBe(202);
    await api.admin.query(`DELETE FROM console_machines WHERE device_hash LIKE 'of %'`);
    await flood(200, '127.0.0.1');
    const last = await begin();
    const answers = [await take(second), await take(last)];
    expect(answers.map(({ status }) => status)).toEqual([401, 202]);
  });
});

describe('a session of a command line', () => {
  const age = (key: string, hours: number): Promise<unknown> =>
    api.admin.query(
      `UPDATE console_sessions SET seen_at = now() - make_interval(hours => $1),
         created_at = now() - make_interval(hours => $1) WHERE key_hash = $2`,
      [hours, api.ctx.keyHash(key)],
    );

  it('outlives silence, and ends after twelve hours', async () => {
    const key = await signedIn();
    await age(key, 11);
    expect(await statusOf(key)).toBe(200);
    await age(key, 12);
    expect(await statusOf(key)).toBe(401);
  });

  it('is listed with its machine, and ended like any other', async () => {
    const key = await signedIn();
    const { body } = await api.get('/sessions');
    const listed = (body as { data: { id: string; machine?: string }[] }).data;
    const found = listed.find(({ machine }) => machine === 'laptop');
    expect(listed.some(({ machine }) => machine === undefined)).toBe(true);
    expect((await api.delete(`/sessions/${found?.id}`)).status).toBe(204);
    expect(await statusOf(key)).toBe(401);
    const own = await signedIn();
    const out = await ask(api, '/api/console/session', { method: 'DELETE', key: own });
    expect([out.status, await statusOf(own, other)]).toEqual([204, 401]);
  });

  it('signs in no other machine', async () => {
    const begun = await begin();
    expect((await decide(begun, await signedIn('admin'))).status).toBe(403);
    expect((await take(begun)).status).toBe(202);
  });
});

it('codes of nobody are counted by the network that they come from, and those who wait are not', async () => {
  const begun = await begin();
  const headers = { 'x-forwarded-for': '203.0.113.7' };
  const ofNetwork = (path: string, body: object, key?: string): Promise<ConsoleAnswer> =>
    ask(api, `/api/console/machines${path}`, {
      ...{ method: 'POST', body, headers },
      ...(key === undefined ? {} : { key }),
    });
  const { device_code } = begun;
  expect((await ofNetwork('/session', { device_code })).status).toBe(202);
  await untilLimited((n) => ofNetwork('/session', { device_code: `guess ${n}` }), 401);
  expect((await ofNetwork('/session', { device_code })).status).toBe(202);

  const person = await signIn(api);
  await untilLimited(() => ofNetwork('/find', { user_code: 'BBBB-BBBB' }, person), 404);
  await untilLimited(() => ofNetwork('', { machine: 'laptop' }), 201);
});

/** Guesses on, a hundred at once, until there are too many in a minute. */
async function untilLimited(
  guess: (n: number) => Promise<ConsoleAnswer>,
  wrong: number,
): Promise<void> {
  for (let begun = 0; begun < 3_000; begun += 100) {
    const guesses = Array.from({ length: 100 }, (_, n) => guess(begun + n));
    const statuses = new Set((await Promise.all(guesses)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== wrong && status !== 429)).toEqual([]);
    if (statuses.has(429)) return;
  }
  throw new Error('never limited');
}
