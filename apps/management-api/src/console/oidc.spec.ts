import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort, waitFor } from '@glovebox/testing';
import { useTestApi, keyRing } from '../spec-api';
import { ask, type ConsoleAnswer } from './spec-console';

const api = useTestApi();
const main = join(__dirname, '../../../../dist/apps/management-api/main.js');
const children: ChildProcess[] = [];
let consolePort: number;
let issuer: string;
let said = '';

function start(args: readonly string[], env: Record<string, string> = {}): void {
  const child = spawn(process.execPath, args, { env: { ...env } });
  child.stdout.on('data', (part: Buffer) => (said += part.toString()));
  child.stderr.on('data', (part: Buffer) => (said += part.toString()));
  children.push(child);
}

beforeAll(async () => {
  const [port, opsPort, issuerPort] = [await freePort(), await freePort(), await freePort()];
  consolePort = await freePort();
  issuer = `http://127.0.0.1:${issuerPort}`;
  const callback = `http://127.0.0.1:${consolePort}/api/console/oidc/callback`;
  start([join(__dirname, 'spec-issuer.mjs'), String(issuerPort), callback]);
  const { tenant_id: tenant } = api.tenant;
  const { tenant_id: foreign } = api.foreign;
  start([main], {
    DATABASE_URL: api.database.managementUrl,
    REDIS_URL: api.redis.url,
    KEY_RING: keyRing,
    PORT: String(port),
    OPS_PORT: String(opsPort),
    CONSOLE_PORT: String(consolePort),
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'secret of the console',
    OIDC_ROLES: `admins=${tenant}:admin,readers=${foreign}:viewer`,
    OIDC_ALLOW: `127.0.0.1:${issuerPort}`,
    CONSOLE_TRUSTED_HOPS: '1',
  });
  const answers = (url: string): Promise<boolean> =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitFor(() => answers(`${issuer}/.well-known/openid-configuration`), { timeoutMs: 20_000 });
  await waitFor(() => answers(`http://127.0.0.1:${opsPort}/health/ready`), { timeoutMs: 20_000 });
});

afterAll(async () => {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(
    children.map((child) =>
      waitFor(() => child.exitCode !== null || child.signalCode !== null, { timeoutMs: 10_000 }),
    ),
  );
});

const get = (path: string, from = '192.0.2.1'): Promise<ConsoleAnswer> =>
  ask({ consolePort }, path, { headers: { 'X-Forwarded-For': from } });
const newBinding = (): string => randomBytes(32).toString('base64url');

async function startUrl(binding: string): Promise<string> {
  const answer = await get(`/api/console/oidc/start?binding=${binding}`);
  expect([answer.status, answer.text, said]).toEqual([302, answer.text, said]);
  return answer.headers.location ?? '';
}

/** Signs in at the issuer as a browser would, and returns the path that it is sent back to. */
async function atIssuer(url: string, login: string): Promise<string> {
  const jar = new Map<string, string>();
  let next: string | undefined = url;
  let form: string | undefined;
  for (let hops = 0; hops < 20 && next !== undefined; hops += 1) {
    if (next.startsWith(`http://127.0.0.1:${consolePort}`)) return next.slice(next.indexOf('/api'));
    const answer: Response = await fetch(next, {
      redirect: 'manual',
      headers: {
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { method: 'POST', body: form }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    const page = await answer.text();
    const location = answer.headers.get('location');
    if (location !== null) [next, form] = [new URL(location, issuer).href, undefined];
    else if (page.includes('name="login"')) {
      form = new URLSearchParams({ prompt: 'login', login, password: 'x' }).toString();
    } else if (page.includes('consent')) form = 'prompt=consent';
    else throw new Error(`The issuer answered ${answer.status}: ${page.slice(0, 300)}`);
  }
  throw new Error('The issuer sent nobody back');
}

const open = (code: string, binding?: string): Promise<ConsoleAnswer> =>
  ask({ consolePort }, '/api/console/sessions', { method: 'POST', body: { code, binding } });

async function codeOf(login: string, binding: string): Promise<string> {
  const back = await get(await atIssuer(await startUrl(binding), login));
  const [, code = ''] = /^\/#code=([\w-]{43})$/.exec(back.headers.location ?? '') ?? [];
  expect([back.status, back.headers.location, code.length]).toEqual([
    302,
    back.headers.location,
    43,
  ]);
  return code;
}

it('people sign in at the issuer by name, with the role and the tenant of their group', async () => {
  expect((await get('/api/console')).body).toMatchObject({ oidc: true });
  for (const [login, role, tenant] of [
    ['ada', 'admin', api.tenant],
    ['ben', 'viewer', api.foreign],
  ] as const) {
    const binding = newBinding();
    const opened = await open(await codeOf(login, binding), binding);
    expect([opened.status, opened.body]).toMatchObject([
      201,
      { person: { name: `Person ${login}` }, role, tenant: { id: tenant.tenant_id } },
    ]);
    const key = opened.body.key as string;
    const calls = await ask({ consolePort }, '/api/tenants/self', { key });
    expect(calls.body).toMatchObject({ id: tenant.tenant_id });
  }
  const [people] = await api.admin.query<{ people: string }>(
    `SELECT count(*) AS people FROM people WHERE issuer = $1`,
    [issuer],
  );
  expect(people).toEqual({ people: '2' });
});

it('a person without a group of the setting gets no session, and is told so', async () => {
  const back = await get(await atIssuer(await startUrl(newBinding()), 'eve'));
  expect([back.status, back.headers.location]).toEqual([302, '/#refused=no_role']);
  const [row] = await api.admin.query(`SELECT 1 FROM people WHERE name = 'Person eve'`);
  expect(row).toBeUndefined();
});

it('whoever has lost the role, or got one elsewhere, has no session left after the next sign-in', async () => {
  const signedIn = async () => {
    const binding = newBinding();
    const { body } = await open(await codeOf('zoe', binding), binding);
    return body as unknown as { key: string; tenant: { id: string } };
  };
  const statusOf = async ({ key }: { key: string }) =>
    (await ask({ consolePort }, '/api/console/session', { key })).status;
  const groups = (...names: string[]) =>
    fetch(`${issuer}/groups-of-zoe`, { method: 'PUT', body: JSON.stringify(names) });
  await groups('admins');
  const [one, two] = [await signedIn(), await signedIn()];
  expect([await statusOf(one), await statusOf(two)]).toEqual([200, 200]);
  const binding = newBinding();
  const unused = await codeOf('zoe', binding);

  await groups('readers');
  const elsewhere = await signedIn();
  expect(elsewhere.tenant.id).toBe(api.foreign.tenant_id);
  expect([await statusOf(one), await statusOf(two)]).toEqual([401, 401]);
  expect((await open(unused, binding)).status).toBe(401);
  expect(await statusOf(elsewhere)).toBe(200);

  await groups();
  const back = await get(await atIssuer(await startUrl(newBinding()), 'zoe'));
  expect(back.headers.location).toBe('/#refused=no_role');
  expect(await statusOf(elsewhere)).toBe(401);
  const lines = await api.admin.query(
    `SELECT tenant_id FROM audit_log WHERE operation = 'console.lose_role' ORDER BY at, id`,
  );
  expect(lines).toEqual([api.tenant, api.foreign].map(({ tenant_id }) => ({ tenant_id })));

  await groups('admins');
  expect(await statusOf(await signedIn())).toBe(200);
  expect(await statusOf(one)).toBe(401);
});

it('the code of one browser signs in no other', async () => {
  const binding = newBinding();
  const code = await codeOf('ada', binding);
  expect((await open(code)).status).toBe(401);
  expect((await open(code, newBinding())).status).toBe(401);
  expect((await open(code, binding)).status).toBe(201);
  expect((await open(code, binding)).status).toBe(401);
});

it('a state that nobody began, that was used or that is old, is refused', async () => {
  const refused = async (path: string) => (await get(path)).headers.location;
  const callback = '/api/console/oidc/callback';
  expect(await refused(`${callback}?state=x&code=y`)).toBe('/#refused=expired');
  expect(await refused(callback)).toBe('/#refused=expired');
  const back = await atIssuer(await startUrl(newBinding()), 'ada');
  expect(await refused(back)).toMatch(/^\/#code=/);
  expect(await refused(back)).toBe('/#refused=expired');
  const old = await atIssuer(await startUrl(newBinding()), 'ada');
  await api.admin.query(`UPDATE console_sign_ins SET expires_at = now()`);
  expect(await refused(old)).toBe('/#refused=expired');
  const forged = (await atIssuer(await startUrl(newBinding()), 'ada')).replace(/code=\w/, 'code=_');
  expect(await refused(forged)).toBe('/#refused=issuer');
  const state = new URL(await startUrl(newBinding())).searchParams.get('state');
  expect(await refused(`${callback}?state=${state}&error=access_denied`)).toBe('/#refused=denied');
});

it.each(['', '?binding=', '?binding=short', `?binding=${'x'.repeat(129)}`, '?binding=a&binding=b'])(
  'begins nothing without the secret of a page: %j',
  async (query) => {
    expect((await get(`/api/console/oidc/start${query}`)).status).toBe(400);
  },
);

it('at most 10,000 sign-ins wait, and the oldest go', async () => {
  await api.admin.query(
    `INSERT INTO console_sign_ins (state_hash, nonce, verifier, binding_hash, expires_at)
     SELECT 'flood ' || n, '', '', '', now() + interval '5 minutes' FROM generate_series(1, 10050) n`,
  );
  const url = await startUrl(newBinding());
  const [row] = await api.admin.query<{ waiting: number }>(
    'SELECT count(*)::int AS waiting FROM console_sign_ins',
  );
  expect(row).toEqual({ waiting: 10_000 });
  expect((await get(await atIssuer(url, 'ada'))).headers.location).toMatch(/^\/#code=/);
});

it('a flood of starts from one address is refused, and harms no sign-in of another', async () => {
  const url = await startUrl(newBinding());
  const flood = await Promise.all(
    Array.from({ length: 400 }, () =>
      get(`/api/console/oidc/start?binding=${newBinding()}`, '198.51.100.7'),
    ),
  );
  const answered = (status: number) => flood.filter((answer) => answer.status === status).length;
  expect(answered(302)).toBeLessThan(200);
  expect(answered(429)).toBeGreaterThan(200);
  expect((await get(await atIssuer(url, 'ada'))).headers.location).toMatch(/^\/#code=/);
});
