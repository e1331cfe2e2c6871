import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import {
  filePlaces,
  foldersOf,
  postgresPlaces,
  processPlaces,
  RedisMonitor,
  redisPlaces,
  type Place,
} from './planted-places';
import { formsOf, PlantedSearch } from './planted-search';
import { runningProduct, until } from '../product';

// A search that finds nothing proves something only if it can find in each place and form.
const product = runningProduct();
const marker = (): Buffer => Buffer.from(`marker-${randomBytes(12).toString('base64url')}`);
const searchFor = (bytes: Buffer): PlantedSearch => new PlantedSearch([{ name: 'marker', bytes }]);
const placesWith = (bytes: Buffer, places: Iterable<Place>): string[] => {
  const search = searchFor(bytes);
  const finds = [...places].flatMap(([name, content]) => search.in(name, content));
  return [...new Set(finds.map(({ place }) => place))];
};

describe('the search finds a marker', () => {
  const around = Buffer.from('before');
  // In base64 it has characters that base64url writes differently, wherever it begins.
  const bytes = Buffer.from('marker ~~~???>>>???~~~');
  it.each(formsOf(bytes))('as %s', (form, encoded) => {
    const finds = searchFor(bytes).in('here', Buffer.concat([around, encoded, around]));
    expect(finds).toContainEqual({ place: 'here', secret: 'marker', form });
  });

  it.each([0, 1, 2, 3, 4, 5])('in the base64 of a text in which it begins at %d', (before) => {
    const bytes = marker();
    const text = Buffer.concat([Buffer.alloc(before, '>'), bytes, Buffer.from('?>?')]);
    for (const encoding of ['base64', 'base64url'] as const) {
      const place = Buffer.from(`"${text.toString(encoding)}"`);
      expect(searchFor(bytes).in('here', place)).not.toEqual([]);
    }
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['gzip in base64', (bytes) => Buffer.from(gzipSync(bytes).toString('base64'))],
    ['gzip in hex', (bytes) => Buffer.from(gzipSync(bytes).toString('hex'))],
  ])('within %s', (form, pack) => {
    const bytes = marker();
    const packed = pack(Buffer.concat([randomBytes(50), bytes, Buffer.alloc(1000, 'x')]));
    const finds = searchFor(bytes).in('here', Buffer.concat([around, packed, around]));
    expect(finds.map((find) => find.form)).toEqual([`raw, ${form}`]);
  });

  it('and finds nothing else', () => {
    expect(searchFor(marker()).in('here', Buffer.concat([marker(), randomBytes(1e6)]))).toEqual([]);
  });
});

it('the search finds a marker in a column of text, JSON or bytes, in Postgres and in its files', async () => {
  const [text, json, bytes] = [marker(), marker(), marker()];
  const client = new Client({ connectionString: product.databaseUrl });
  await client.connect();
  try {
    await client.query('CREATE SCHEMA planted');
    await client.query('CREATE TABLE planted.here (a text, b jsonb, c bytea)');
    const row = [text.toString(), { base64: json.toString('base64') }, gzipSync(bytes)];
    await client.query('INSERT INTO planted.here VALUES ($1, $2, $3)', row);
    await client.query('CHECKPOINT');
    const places = await postgresPlaces(product.databaseUrl);
    for (const each of [text, json, bytes]) {
      expect(placesWith(each, places)).toContain('planted.here');
    }
  } finally {
    await client.query('DROP SCHEMA planted CASCADE');
    await client.end();
  }
  if (product.pids.postgres === undefined) return;
  const files = foldersOf(product).flatMap((folder) => [...filePlaces(folder)]);
  const ofLog = files.filter(([path]) => path.includes('pg_wal'));
  expect(placesWith(text, ofLog)).not.toEqual([]);
});

it('the search finds a marker in every type of key of Redis, and in the output of MONITOR', async () => {
  const name = `planted:${randomBytes(6).toString('hex')}`;
  const redis = new Redis(product.redisUrl);
  const monitor = await RedisMonitor.start(product.redisUrl);
  const markers = Array.from({ length: 8 }, marker);
  const [inName = '', string, hash, list, set, zset, stream, asked] = markers.map(String);
  try {
    await redis.set(`${name}:${inName}`, gzipSync(string ?? ''));
    await redis.hset(`${name}:hash`, { field: hash ?? '' });
    await redis.rpush(`${name}:list`, list ?? '');
    await redis.sadd(`${name}:set`, Buffer.from(set ?? '').toString('hex'));
    await redis.zadd(`${name}:zset`, 1, zset ?? '');
    await redis.xadd(`${name}:stream`, '*', 'field', stream ?? '');
    await redis.get(asked ?? '');
    await until(() => Promise.resolve(monitor.saw(asked ?? '')));
    const places = await redisPlaces(product.redisUrl);
    const seen = monitor.end();
    for (const each of markers.slice(0, -1)) expect(placesWith(each, places)).toHaveLength(1);
    for (const each of markers) expect(placesWith(each, [seen])).toHaveLength(1);
  } finally {
    monitor.end();
    await redis.del(
      `${name}:${inName}`,
      ...['hash', 'list', 'set', 'zset', 'stream'].map((type) => `${name}:${type}`),
    );
    redis.disconnect();
  }
});

it('the search finds a marker in a file of the product, in a command line and in an environment', async () => {
  const [written, argument, variable] = [marker(), marker(), marker()];
  const folder = foldersOf(product)[0] ?? '';
  const file = join(folder, 'logs', 'planted.log');
  const child = spawn(
    process.execPath,
    ['-e', 'setInterval(() => {}, 1000)', argument.toString('hex')],
    { env: { PLANTED: variable.toString('base64url') }, stdio: 'ignore' },
  );
  try {
    writeFileSync(file, gzipSync(written));
    const logs = [...filePlaces(folder)].filter(([path]) => path.includes('logs'));
    expect(placesWith(written, logs)).toEqual([file]);
    const of = (bytes: Buffer): string[] => placesWith(bytes, processPlaces([process.pid]));
    await until(() => Promise.resolve(of(argument).length > 0));
    expect(of(argument)).toEqual([`/proc/${child.pid}/cmdline`]);
    expect(of(variable)).toEqual([`/proc/${child.pid}/environ`]);
  } finally {
    rmSync(file, { force: true });
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
});
