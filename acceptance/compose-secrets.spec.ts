import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const docker = join(__dirname, '../docker');
let folder: string;
let secrets: string;

/** The script writes into its own folder. */
const makeSecrets = () =>
  promisify(execFile)(process.execPath, [join(folder, 'make-secrets.mjs')], { timeout: 20_000 });
const secret = async (name: string): Promise<string> =>
  (await readFile(join(secrets, name), 'utf8')).trim();
const passwordIn = async (name: string): Promise<string> => new URL(await secret(name)).password;

async function all(): Promise<Record<string, string>> {
  const names = await readdir(secrets);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await secret(name)] as const)),
  );
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'glovebox-secrets-'));
  secrets = join(folder, 'secrets');
  await cp(join(docker, 'make-secrets.mjs'), join(folder, 'make-secrets.mjs'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

it('every secret that compose.yaml mounts is made, in a folder that is closed to others', async () => {
  await makeSecrets();
  const compose = await readFile(join(docker, 'compose.yaml'), 'utf8');
  const mounted = [...compose.matchAll(/\{ file: secrets\/(\w+) \}/g)].map(([, name]) => name);
  expect(Object.keys(await all()).sort()).toEqual([...mounted].sort());
  expect((await stat(secrets)).mode & 0o777).toBe(0o700);
  for (const role of ['owner', 'management', 'data', 'rotation']) {
    expect(await passwordIn(`${role}_database_url`)).toBe(await secret(`${role}_password`));
  }
  expect(await secret('redis_conf')).toContain(`requirepass ${await passwordIn('redis_url')}`);
});

it('making the secrets a second time changes nothing', async () => {
  await makeSecrets();
  const before = await all();
  await makeSecrets();
  expect(await all()).toEqual(before);
});

it('an older installation gets a secret that is new, and keeps the others', async () => {
  await makeSecrets();
  await rm(join(secrets, 'rotation_password'));
  await rm(join(secrets, 'rotation_database_url'));
  const before = await all();
  await makeSecrets();
  const after = await all();
  expect(after).toMatchObject(before);
  expect(await passwordIn('rotation_database_url')).toBe(after.rotation_password);
});

it.each(['postgres_password', 'data_password', 'data_database_url', 'redis_conf', 'redis_url'])(
  '%s that was lost comes back from what is there',
  async (name) => {
    await makeSecrets();
    const before = await all();
    await rm(join(secrets, name));
    await makeSecrets();
    expect(await all()).toEqual(before);
  },
);

it('no new key ring is made where there was one: stored data would not open with it', async () => {
  await makeSecrets();
  await rm(join(secrets, 'key_ring'));
  await rm(join(secrets, 'rotation_password'));
  const before = await all();
  await expect(makeSecrets()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('key_ring') as string,
  });
  expect(await all()).toEqual(before);
});

it('a folder with a secret that cannot be read is left unchanged', async () => {
  await mkdir(secrets);
  await writeFile(join(secrets, 'key_ring'), '1:x');
  await writeFile(join(secrets, 'data_database_url'), 'nonsense');
  await expect(makeSecrets()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('data_database_url') as string,
  });
  expect((await readdir(secrets)).sort()).toEqual(['data_database_url', 'key_ring']);
});
