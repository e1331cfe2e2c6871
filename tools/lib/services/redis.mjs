import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import { delimiter, join } from 'node:path';
import { freePort } from '../ports.mjs';
import { fromDebianPackages } from './debian-packages.mjs';
import { startService, waitUntilReady } from '../processes.mjs';
import { Trouble } from '../progress.mjs';
import { plainEnvironment } from './postgres.mjs';
import { giveToServices, serviceFolder, serviceUser } from './reachable.mjs';
import { repoRoot } from '../repo.mjs';

/**
 * Starts Redis on 127.0.0.1; `durable` keeps an append-only file between starts.
 *
 * @param {import('../types.js').StoreOptions} options
 * @returns {Promise<import('../types.js').StartedStore>}
 */
export async function startRedis({ folder, password, logFile, durable, port }) {
  const server = await findRedis();
  const chosen = port || (await freePort());
  const data = serviceFolder(join(folder, 'redis'));
  // A file, because everyone on the machine can see arguments.
  const settings = join(data, 'redis.conf');
  writeFileSync(
    settings,
    [
      'bind 127.0.0.1',
      `port ${chosen}`,
      `requirepass ${password}`,
      `dir "${data}"`,
      'save ""',
      `appendonly ${durable ? 'yes' : 'no'}`,
      'maxmemory-policy noeviction',
      '',
    ].join('\n'),
    { mode: 0o600 },
  );
  giveToServices(settings);
  const service = startService({
    name: 'redis',
    command: server.command,
    args: [settings],
    env: server.env,
    cwd: data,
    logFile,
    ...serviceUser,
  });
  return {
    service,
    url: `redis://:${password}@127.0.0.1:${chosen}`,
    from: server.from,
    ready: (signal) => waitUntilReady(service, () => answers(chosen, password), { signal }),
  };
}

/** Describes how to start another server, for tests that stop, stall or fill one. */
export async function redisServerCommand() {
  const { command, env } = await findRedis();
  return { command, env, ...serviceUser };
}

/** @param {string} url */
export async function checkRedisUrl(url) {
  const Redis = createRequire(join(repoRoot, 'package.json'))('ioredis').default;
  const address = new URL(url);
  const ca = address.searchParams.get('sslrootcert');
  address.searchParams.delete('sslrootcert');
  const client = new Redis(address.href, {
    lazyConnect: true,
    retryStrategy: () => null,
    ...(ca === null ? {} : { tls: { ca: readFileSync(ca), host: address.hostname } }),
  });
  /** @type {unknown} */
  let cause;
  client.on('error', (/** @type {unknown} */ error) => (cause = error));
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    throw new Trouble(`Cannot use the Redis of REDIS_URL: ${messageOf(cause ?? error)}`);
  } finally {
    client.disconnect();
  }
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** @returns {Promise<import('../types.js').Program>} */
async function findRedis() {
  for (const name of ['redis-server', 'valkey-server']) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const server = { command: join(folder, name), env: plainEnvironment(), from: name };
      if (existsSync(server.command) && works(server)) return server;
    }
  }
  const server = await fromDebianPackages(debianPackages);
  if (server) return server;
  throw new Trouble(
    [
      'No Redis found. Either of these helps:',
      '  apt-get install redis-server    Debian, Ubuntu',
      '  apk add redis                   Alpine',
      '  brew install redis              macOS',
      '  docker run -d -p 127.0.0.1:6379:6379 redis:7 redis-server --maxmemory-policy noeviction',
      '                                  then REDIS_URL=redis://127.0.0.1:6379 npm start',
    ].join('\n'),
  );
}

/** @param {{ command: string, env: import('../types.js').Environment }} program */
function works({ command, env }) {
  return spawnSync(command, ['--version'], { ...serviceUser, env, cwd: '/' }).status === 0;
}

const debianPackages = {
  name: 'redis',
  program: 'redis-server',
  packages: ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'],
  // Further libraries of Ubuntu's build; names that a release does not know are skipped.
  maybe: ['liblua5.1-0', 'lua-cjson', 'lua-bitop', 'libhiredis1.1.0', 'libhiredis0.14'],
  works,
};

/**
 * @param {number} port
 * @param {string} password
 * @returns {Promise<boolean>}
 */
function answers(port, password) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    /** @param {boolean} result */
    const finish = (result) => {
      socket.destroy();
      resolve(result);
    };
    let text = '';
    socket.setTimeout(2000, () => finish(false));
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    socket.setEncoding('utf8').on('data', (/** @type {string} */ data) => {
      text += data;
      if (text.includes('+PONG')) finish(true);
      else if (text.includes('-')) finish(false);
    });
  });
}
