import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import { join } from 'node:path';
import { freePort } from '../ports.mjs';
import { query } from './postgres.mjs';
import { isAlive } from '../processes.mjs';
import { stopAll } from '../running.mjs';
import { repoRoot } from '../repo.mjs';
import { generateSecrets } from '../secrets.mjs';
import { startServices } from './services.mjs';
import { useFolder } from '../spec-folder.mjs';

const folder = useFolder();
beforeAll(() => void jest.spyOn(console, 'log').mockImplementation());
const secrets = generateSecrets();
const { TEST_ADMIN_DATABASE_URL = '', TEST_REDIS_URL = '' } = process.env;

/** @type {import('../types.js').Service[]} */
const running = [];
afterEach(() => stopAll(running.splice(0)));

/**
 * @param {import('../types.js').Environment} env
 * @param {string} place
 */
function start(env, place) {
  /** @param {import('../types.js').Service} service */
  const started = (service) => void running.push(service);
  return startServices({ folder: join(folder, place), secrets, env, durable: true, started });
}

/**
 * The answer of Redis to commands.
 *
 * @param {string} url
 * @param {string} commands
 * @returns {Promise<string>}
 */
function ask(url, commands) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.on('error', reject).on('close', () => resolve(text));
    socket.setEncoding('utf8').on('data', (part) => (text += part));
    socket.end(commands);
  });
}

describe('embedded services', () => {
  it('keep what was written when they are started again in the same folder', async () => {
    const first = await start({}, 'kept');
    await query(first.databaseUrl, 'CREATE TABLE kept AS SELECT 7 AS number');
    const redis = () => {
      const { Redis } = createRequire(join(repoRoot, 'package.json'))('ioredis');
      return new Redis(first.redisUrl);
    };
    const client = redis();
    await client.set('kept', '7');
    client.disconnect();
    await stopAll(running.splice(0));

    const port = new URL(first.redisUrl).port;
    const again = await start({ REDIS_PORT: port }, 'kept');
    expect(again.redisUrl).toBe(first.redisUrl);
    expect(await query(again.databaseUrl, 'SELECT number FROM kept')).toEqual([{ number: 7 }]);
    const second = redis();
    expect(await second.get('kept')).toBe('7');
    second.disconnect();
  });

  it('are told to the caller, want their passwords, and listen on 127.0.0.1 alone', async () => {
    const { databaseUrl, redisUrl } = await start({}, 'kept');
    expect(running.map(({ name }) => name).sort()).toEqual(['postgres', 'redis']);
    expect(running.every(isAlive)).toBe(true);
    expect(new URL(databaseUrl).hostname).toBe('127.0.0.1');
    expect(await ask(redisUrl, 'PING\r\n')).toMatch(/^-NOAUTH/);
    const wrong = new URL(databaseUrl);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
    const settings = join(folder, 'kept', 'redis', 'redis.conf');
    expect(readFileSync(settings, 'utf8')).toContain('bind 127.0.0.1');
    expect(statSync(settings).mode & 0o777).toBe(0o600);
  });

  it('are not started on data of another Postgres', async () => {
    const data = join(folder, 'old', 'postgres');
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'PG_VERSION'), '9\n');
    const other = start({ REDIS_URL: TEST_REDIS_URL }, 'old');
    await expect(other).rejects.toThrow(`${data} was made by Postgres 9, but Postgres`);
  });
});

describe('services of the environment', () => {
  it('are used as they are: nothing is started', async () => {
    const env = { DATABASE_URL: TEST_ADMIN_DATABASE_URL, REDIS_URL: TEST_REDIS_URL };
    expect(await start(env, 'none')).toEqual({
      databaseUrl: TEST_ADMIN_DATABASE_URL,
      redisUrl: TEST_REDIS_URL,
    });
    expect(running).toEqual([]);
  });

  const asData = new URL(TEST_ADMIN_DATABASE_URL);
  asData.username = 'glovebox_data';
  asData.password = process.env.TEST_DATA_PASSWORD ?? '';

  it.each([
    ['no URL', 'DATABASE_URL is not a URL'],
    ['mysql://a:b@localhost/x', 'DATABASE_URL must look like postgres://'],
    ['postgres://a:b@127.0.0.1:1/x', 'Cannot connect to 127.0.0.1:1/x of DATABASE_URL: '],
    [asData.href, 'connects as "glovebox_data", who may not create roles'],
  ])('a DATABASE_URL is refused with the reason: %#', async (url, reason) => {
    const env = { DATABASE_URL: url, REDIS_URL: TEST_REDIS_URL };
    await expect(start(env, 'none')).rejects.toThrow(reason);
  });

  it('a REDIS_URL without a server is refused with the reason', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    const env = { DATABASE_URL: TEST_ADMIN_DATABASE_URL, REDIS_URL: url };
    await expect(start(env, 'none')).rejects.toThrow('Cannot use the Redis of REDIS_URL: ');
  });
});
