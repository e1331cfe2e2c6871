import type { ChildProcess } from 'node:child_process';
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOwnTenant, type OwnTenant } from '../own-tenant';
import { call, runningProduct, scriptEnvironment, type Answer, type Product } from '../product';
import { PackedCli, type Ended } from './packed';

const product = runningProduct() as Product & { readonly consoleUrl: string };
const { baseUrl: url, consoleUrl } = product;
const env = { GLOVEBOX_URL: url, GLOVEBOX_CONSOLE_URL: consoleUrl };

let cli: PackedCli;
let tenant: OwnTenant;
beforeAll(async () => {
  tenant = await createOwnTenant('signs in');
  cli = new PackedCli();
  await cli.succeed(['init']);
});
afterAll(() => cli.remove());

const post = (path: string, body: object, key?: string): Promise<Answer> =>
  call('POST', `${consoleUrl}/api/console${path}`, { body, ...(key === undefined ? {} : { key }) });

/** Signs in to the console by a link, as a page does. */
async function personOf(role: string): Promise<string> {
  const script = join(__dirname, '../../tools/console-link.mjs');
  const args = [script, tenant.tenant_id, '--role', role];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: scriptEnvironment(),
  });
  const code = new URL(stdout.trim()).hash.slice('#code='.length);
  return String((await post('/sessions', { code })).body.key);
}

/** Runs `login --web`, and decides once it has shown its code. */
async function login(person: string, confirm: boolean): Promise<Ended> {
  const child = cli.start(['login', '--web', '--json'], { env });
  const ended = endOf(child);
  const user_code = await codeShownBy(child);
  const found = await post('/machines/find', { user_code }, person);
  expect(found.status).toBe(200);
  expect((await post('/machines/decide', { user_code, confirm }, person)).status).toBe(204);
  return ended;
}

function codeShownBy({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const [, code] = /Open \S+\/command-line and type ([A-Z-]{9})\n/.exec(said) ?? [];
      if (code !== undefined) resolve(code);
    });
  });
}

function endOf(child: ChildProcess): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  return new Promise((done) => child.once('close', (code) => done({ code, stdout, stderr })));
}

const run = (...args: string[]): Promise<Ended> => cli.run(args, { env });
const storedKey = (): string => {
  const { default: profile } = JSON.parse(readFileSync(cli.configFile, 'utf8')) as {
    default: { session: { url: string; key: string } };
  };
  expect(profile.session.url).toBe(`${consoleUrl}/api`);
  return profile.session.key;
};

describe('login --web', () => {
  it('signs in as whoever confirms it, and stores a key that its user alone can read', async () => {
    const ended = await login(await personOf('admin'), true);
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ role: 'admin', person: 'operator', url });
    expect(statSync(cli.configFile).mode & 0o777).toBe(0o600);
    expect(ended.stdout + ended.stderr).not.toContain(storedKey());
  });

  it('lets an admin deploy without any other key, and the list names the person', async () => {
    const said = await cli.succeed(['push', '-m', 'as a person', '--json'], { env });
    expect(JSON.parse(said)).toMatchObject({
      changes: [{ change: 'created' }, { change: 'created' }],
    });
    const listed = await cli.succeed(['deployments', '--json'], { env });
    expect(JSON.parse(listed)).toMatchObject({ actor: { type: 'person', name: 'operator' } });
  });

  it('compares what was deployed with the files, and the doctor finds the session', async () => {
    expect((await run('diff')).stdout).not.toMatch(/hello|echo/);
    expect((await run('doctor')).stdout).toContain('✓ session');
  });

  it('is over after logout', async () => {
    const key = storedKey();
    expect((await run('logout')).code).toBe(0);
    const after = await call('GET', `${consoleUrl}/api/console/session`, { key });
    expect([after.status, (await run('deployments')).code]).toEqual([401, 3]);
  });
});

it('a person who may not deploy may not deploy from a command line either', async () => {
  expect((await login(await personOf('author'), true)).code).toBe(0);
  expect((await run('dev', 'hello', '--once')).code).toBe(0);
  expect(await run('push')).toMatchObject({ code: 3, stdout: '' });
});

it('a session that an admin ends is over for the command line', async () => {
  const { body } = await call('GET', `${url}/sessions`, { key: tenant.management_key });
  const machines = (body.data as { id: string; machine?: string }[]).filter((one) => one.machine);
  for (const { id } of machines) {
    const ended = await call('DELETE', `${url}/sessions/${id}`, { key: tenant.management_key });
    expect(ended.status).toBe(204);
  }
  const refused = await run('deployments');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('glovebox login');
});

it('a sign-in that is refused stores nothing and ends with 3', async () => {
  const before = readFileSync(cli.configFile, 'utf8');
  expect(await login(await personOf('viewer'), false)).toMatchObject({ code: 3, stdout: '' });
  expect(readFileSync(cli.configFile, 'utf8')).toBe(before);
});
