import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { describeProcess } from '../processes';
import { devFile, until, type Product } from '../product';

export type Place = readonly [name: string, bytes: Buffer];

/** Every column of every table, and of the statements and values that Postgres itself keeps. */
export async function postgresPlaces(url: string): Promise<Place[]> {
  // Reads texts of Postgres: parsed values could hide something.
  const asText = { getTypeParser: () => (text: string | Buffer) => String(text) };
  const client = new Client({ connectionString: url, types: asText });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
       UNION ALL VALUES ('pg_stats'), ('pg_stat_activity'), ('pg_description')`,
    );
    const places: Place[] = [];
    for (const { name } of rows) {
      places.push([name, joined(await valuesOfTable(client, name))]);
    }
    return places;
  } finally {
    await client.end();
  }
}

async function valuesOfTable(client: Client, name: string): Promise<Buffer[]> {
  const query = { text: `SELECT * FROM ${name}`, rowMode: 'array' } as const;
  try {
    const { rows } = await client.query<(string | null)[]>(query);
    return rows.flat().flatMap((value) => (value === null ? [] : [bytesOfColumn(value)]));
  } catch (error) {
    // Another spec has created and dropped it meanwhile.
    if ((error as { code?: unknown }).code === '42P01') return [];
    throw error;
  }
}

function bytesOfColumn(text: string): Buffer {
  return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : Buffer.from(text);
}

const joined = (parts: readonly Buffer[]): Buffer =>
  Buffer.concat(parts.flatMap((part) => [part, Buffer.of(0)]));

/** Every key of Redis, of every type. */
export async function redisPlaces(url: string): Promise<Place[]> {
  const redis = new Redis(url);
  try {
    const keys = new Set<string>();
    let cursor = '0';
    do {
      const [next, some] = await redis.scanBuffer(cursor, 'COUNT', 1000);
      cursor = String(next);
      for (const key of some) keys.add(key.toString('latin1'));
    } while (cursor !== '0');
    const places: Place[] = [];
    for (const key of keys) {
      const name = Buffer.from(key, 'latin1');
      places.push([`Redis: ${key}`, joined([name, ...(await valuesOf(redis, name))])]);
    }
    return places;
  } finally {
    redis.disconnect();
  }
}

async function valuesOf(redis: Redis, key: Buffer): Promise<Buffer[]> {
  const type = await redis.type(key);
  const read: Record<string, () => Promise<unknown>> = {
    string: () => redis.getBuffer(key),
    hash: () => redis.callBuffer('HGETALL', key),
    list: () => redis.lrangeBuffer(key, 0, -1),
    set: () => redis.smembersBuffer(key),
    zset: () => redis.zrangeBuffer(key, 0, -1),
    stream: () => redis.callBuffer('XRANGE', key, '-', '+'),
    // Removed since it was listed.
    none: () => Promise.resolve([]),
  };
  const values = await read[type]?.();
  if (values === undefined) throw new Error(`nobody knows how to read a ${type} of Redis`);
  return leaves(values);
}

function leaves(value: unknown): Buffer[] {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (Buffer.isBuffer(value)) return [value];
  return value === null ? [] : [Buffer.from(String(value))];
}

/**
 * All commands that Redis receives from now on. On a bare connection: ioredis takes lines of
 * MONITOR for answers to its own first commands.
 */
export class RedisMonitor {
  #lines = '';

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => (this.#lines += chunk.toString('latin1')));
    socket.on('error', () => undefined);
  }

  static async start(url: string): Promise<RedisMonitor> {
    const { hostname, port, username, password } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const self = new RedisMonitor(socket);
    const asked = password === '' ? [] : [`AUTH ${username || 'default'} ${password}`];
    socket.write([...asked, 'MONITOR', ''].join('\r\n'));
    await until(() => Promise.resolve(self.#lines.endsWith('+OK\r\n') || self.saw('"')));
    return self;
  }

  end(): Place {
    this.socket.destroy();
    return ['Redis MONITOR', Buffer.from(unescaped(this.#lines), 'latin1')];
  }

  saw(text: string): boolean {
    return this.#lines.includes(text);
  }
}

const controls: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' };

/** MONITOR writes bytes that are not printable as \xNN or with an escape letter. */
function unescaped(text: string): string {
  return text.replace(/\\x([\da-f]{2})|\\(.)/gi, (_, hex: string | undefined, sign: string) =>
    hex === undefined ? (controls[sign] ?? sign) : String.fromCharCode(parseInt(hex, 16)),
  );
}

/** The folders of the product: keys, logs, sockets and the data of its stores. */
export function foldersOf(product: Product): string[] {
  const runner = describeProcess(product.pids.runner ?? 0).env.RUNNER_WORK_DIR;
  const postgres = product.pids.postgres;
  const command = postgres === undefined ? [] : describeProcess(postgres).command;
  const data = command[command.indexOf('-D') + 1];
  const folders = [dirname(devFile()), runner, data].filter((folder) => folder !== undefined);
  return folders.filter(
    (folder) => !folders.some((other) => other !== folder && folder.startsWith(`${other}/`)),
  );
}

/** Yields the files one by one: together they are large. */
export function* filePlaces(folder: string): Generator<Place> {
  for (const entry of unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filePlaces(path);
    const bytes = entry.isFile() ? unlessGone(() => readFileSync(path)) : undefined;
    if (bytes) yield [path, bytes];
  }
}

/** Undefined if it was removed since it was listed. */
function unlessGone<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Command lines and environments of these processes and all their descendants. */
export function processPlaces(pids: readonly number[]): Place[] {
  return withDescendants(pids).flatMap((pid) =>
    ['cmdline', 'environ'].flatMap((name): Place[] => {
      const path = `/proc/${pid}/${name}`;
      try {
        return [[path, readFileSync(path)]];
      } catch (error) {
        // Gone, or a sandbox that not even its own user may read. Those of the apps must be
        // readable.
        if (pids.includes(pid)) throw error;
        return [];
      }
    }),
  );
}

function withDescendants(pids: readonly number[]): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const found = new Set(pids);
  let before: number;
  do {
    before = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  } while (found.size > before);
  return [...found];
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
