import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const docker = join(__dirname, '../docker');
let folder: string;
let secrets: string;

/** Without arguments the script writes into its own folder. */
const makeSecrets = (...args: string[]) =>
  promisify(execFile)(process.execPath, [join(folder, 'make-secrets.mjs'), ...args], {
    timeout: 20_000,
  });
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

/** The services that have secrets, and the names of those that they read. */
async function readersInCompose(): Promise<Record<string, string[]>> {
  const compose = await readFile(join(docker, 'compose.yaml'), 'utf8');
  const services = compose.slice(compose.indexOf('\nservices:'), compose.indexOf('\nnetworks:'));
  const readers: Record<string, string[]> = {};
  for (const block of services.split(/\n(?= {2}[\w-]+:\n)/)) {
    const reader = /'secrets-([\w-]+):\/run\/secrets:ro'/.exec(block)?.[1];
    if (reader === undefined) continue;
    expect(block).toMatch(new RegExp(`^ {2}${reader}:`));
    expect(compose).toContain(`- secrets-${reader}:/shared/${reader}\n`);
    const names = [...block.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name = '']) => name);
    readers[reader] = [...new Set(names)].sort();
  }
  return readers;
}

it('each service of compose.yaml gets the secrets that it reads, and no others', async () => {
  const shared = join(folder, 'shared');
  await makeSecrets(secrets, '--share', shared);
  const readers = await readersInCompose();
  expect(Object.keys(readers)).toHaveLength(10);
  expect((await readdir(shared)).sort()).toEqual(Object.keys(readers).sort());
  for (const [reader, names] of Object.entries(readers)) {
    expect([reader, (await readdir(join(shared, reader))).sort()]).toEqual([reader, names]);
    for (const name of names) {
      const copy = await readFile(join(shared, reader, name), 'utf8');
      expect(copy.trim()).toBe(await secret(name));
    }
  }
});

it('every secret is read by a service, in a folder that is closed to others', async () => {
  await mkdir(secrets, { mode: 0o755 });
  await makeSecrets();
  const read = new Set(Object.values(await readersInCompose()).flat());
  expect(Object.keys(await all()).sort()).toEqual([...read].sort());
  expect((await stat(secrets)).mode & 0o777).toBe(0o700);
  for (const role of ['owner', 'management', 'data', 'rotation']) {
    expect(await passwordIn(`${role}_database_url`)).toBe(await secret(`${role}_password`));
  }
  expect(await secret('redis_conf')).toContain(`requirepass ${await passwordIn('redis_url')}`);
});

it('a start that broke off while secrets were made goes on with what was made', async () => {
  await makeSecrets();
  const before = await all();
  for (const name of Object.keys(before)) if (name !== 'key_ring') await rm(join(secrets, name));
  await makeSecrets();
  const after = await all();
  expect(Object.keys(after)).toEqual(Object.keys(before));
  expect(after.key_ring).toBe(before.key_ring);
});

it('a secret that was changed reaches the services at the next start', async () => {
  const shared = join(folder, 'shared');
  await makeSecrets(secrets, '--share', shared);
  const ring = `${await secret('key_ring')},2:another`;
  await writeFile(join(secrets, 'key_ring'), ring);
  await makeSecrets(secrets, '--share', shared);
  for (const reader of ['management-api', 'gateway', 'worker', 'rotate-keys', 'after-restore']) {
    expect(await readFile(join(shared, reader, 'key_ring'), 'utf8')).toBe(ring);
  }
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
