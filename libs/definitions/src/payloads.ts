import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Sql } from '@glovebox/database';
import { masterVersionOf } from '@glovebox/seal';
import { readPayloads, type ListedEntry, type LogEntry, type LogList, type LogPart } from './log';

/** `kind:id` → the sealed payload of some version. */
export const payloadsKey = '{glovebox}:definitions:payloads';

/** The whole cache is dropped once a day, and with it anything that a lost removal left there. */
const cacheSeconds = 86_400;

/**
 * Returns values of the expected length alone: another program that writes to Redis could otherwise
 * make every process read half a gigabyte.
 */
const findScript = `
local count, found = #ARGV / 2, {}
for i = 1, count do
  local fits = redis.call('HSTRLEN', KEYS[1], ARGV[i]) == tonumber(ARGV[count + i])
  found[i] = fits and redis.call('HGET', KEYS[1], ARGV[i])
end
return found
`;

type PayloadMap = ReadonlyMap<number, Buffer>;

/**
 * Reads payloads from Redis, and from Postgres those that Redis lacks: they go to Redis for the
 * next reader. A payload counts only if it has the digest that was listed.
 */
export class Payloads {
  /** Payloads that this process took, by the store that they came from. */
  readonly taken = { redis: 0, postgres: 0 };

  constructor(
    private readonly sql: Sql,
    private readonly redis: Redis,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /**
   * Completes the listed entries. The part ends before one that has changed since it was listed,
   * unless they were listed with their payloads.
   */
  async fetch({ after, head, entries, upTo }: LogList): Promise<LogPart> {
    const wanted = entries.filter(({ digest, payload }) => digest && !payload);
    const cached = await this.#find(wanted);
    const missing = wanted.filter(({ version }) => !cached?.has(version));
    const read = await this.#read(missing);
    if (cached) await this.#update(missing, read, entries);
    const fetched: LogEntry[] = [];
    for (const { version, kind, id, tenantId, digest, payload: listed } of entries) {
      if (listed) this.taken.postgres += 1;
      const payload = listed ?? (digest ? (cached?.get(version) ?? read.get(version)) : null);
      if (payload === undefined) {
        return { after, head, entries: fetched, upTo: fetched.at(-1)?.version ?? after };
      }
      fetched.push({ version, kind, id, tenantId, payload });
    }
    return { after, head, entries: fetched, upTo };
  }

  async #read(entries: readonly ListedEntry[]): Promise<PayloadMap> {
    if (entries.length === 0) return new Map();
    const versions = entries.map(({ version }) => version);
    const payloads = await readPayloads(this.sql, versions);
    // Another database may answer than the one that listed them.
    const read = matching(
      entries,
      versions.map((version) => payloads.get(version)),
    );
    this.taken.postgres += read.size;
    return read;
  }

  /** Returns undefined if Redis does not answer. */
  async #find(entries: readonly ListedEntry[]): Promise<PayloadMap | undefined> {
    if (entries.length === 0) return new Map();
    const fields = entries.map(fieldOf);
    const sizes = entries.map(({ bytes }) => bytes);
    try {
      const values = await this.redis.callBuffer(
        'EVAL',
        findScript,
        1,
        payloadsKey,
        ...fields,
        ...sizes,
      );
      const found = matching(entries, values as (Buffer | null)[]);
      this.taken.redis += found.size;
      return found;
    } catch (error) {
      this.onFault(error);
      return undefined;
    }
  }

  async #update(
    missing: readonly ListedEntry[],
    read: PayloadMap,
    entries: readonly ListedEntry[],
  ): Promise<void> {
    const added = missing.flatMap((entry) => {
      const payload = read.get(entry.version);
      return payload ? [fieldOf(entry), payload] : [];
    });
    const removed = entries.filter(({ digest }) => !digest).map(fieldOf);
    try {
      await Promise.all([
        added.length > 0 && this.redis.hset(payloadsKey, ...added),
        added.length > 0 && this.redis.expire(payloadsKey, cacheSeconds, 'NX'),
        removed.length > 0 && this.redis.hdel(payloadsKey, ...removed),
      ]);
    } catch (error) {
      this.onFault(error);
    }
  }
}

const fieldOf = ({ kind, id }: Pick<ListedEntry, 'kind' | 'id'>): string => `${kind}:${id}`;

function matching(
  entries: readonly ListedEntry[],
  values: readonly (Buffer | null | undefined)[],
): PayloadMap {
  const found = new Map<number, Buffer>();
  for (const [at, { version, digest }] of entries.entries()) {
    const value = values[at];
    if (value && digest?.equals(hash('sha256', value, 'buffer'))) found.set(version, value);
  }
  return found;
}

/** A larger one is none of ours. */
const comparedBytesMax = 4 * 1024 * 1024;
const readScript = `
local found = {}
for i = 1, #ARGV - 1 do
  local fits = redis.call('HSTRLEN', KEYS[1], ARGV[i]) <= tonumber(ARGV[#ARGV])
  found[i] = fits and redis.call('HGET', KEYS[1], ARGV[i])
end
return found
`;

/** The payloads that Redis has of these definitions, of whatever version. */
export async function readCachedPayloads(
  redis: Redis,
  entries: readonly Pick<ListedEntry, 'kind' | 'id'>[],
): Promise<readonly (Buffer | null)[]> {
  if (entries.length === 0) return [];
  const fields = entries.map(fieldOf);
  const found = await redis.callBuffer(
    'EVAL',
    readScript,
    1,
    payloadsKey,
    ...fields,
    comparedBytesMax,
  );
  return found as (Buffer | null)[];
}

/** The definitions that Redis has a payload of, in parts. */
export async function* cachedDefinitions(
  redis: Redis,
): AsyncGenerator<readonly { readonly kind: string; readonly id: string }[]> {
  let cursor = '0';
  do {
    const [next, found] = await redis.hscan(payloadsKey, cursor, 'COUNT', 500);
    cursor = next;
    yield found
      .filter((_, at) => at % 2 === 0)
      .map((field) => ({ kind: field.split(':')[0] ?? '', id: field.split(':')[1] ?? '' }));
  } while (cursor !== '0');
}

/** Every process reads Postgres then, and fills the cache again. */
export async function forgetCachedPayloads(redis: Redis): Promise<void> {
  await redis.unlink(payloadsKey);
}

/** Counts the payloads in Redis by the version of the master key that sealed them. 0: no key did. */
export async function countCachedPayloads(redis: Redis): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for await (const { sealedBy } of cachedPayloads(redis)) {
    counts.set(sealedBy, (counts.get(sealedBy) ?? 0) + 1);
  }
  return counts;
}

/** Removes what older master keys sealed. A process that needs such a payload reads Postgres. */
export async function removeOlderPayloads(redis: Redis, masterVersion: number): Promise<void> {
  for await (const { field, sealedBy } of cachedPayloads(redis)) {
    if (sealedBy < masterVersion) await redis.hdel(payloadsKey, field);
  }
}

async function* cachedPayloads(
  redis: Redis,
): AsyncGenerator<{ readonly field: Buffer; readonly sealedBy: number }> {
  let cursor = '0';
  do {
    const [next, found] = await redis.hscanBuffer(payloadsKey, cursor, 'COUNT', 500);
    cursor = next.toString();
    for (let at = 0; at < found.length; at += 2) {
      const [field, value] = [found[at], found[at + 1]];
      if (field && value) yield { field, sealedBy: masterVersionOf(value) ?? 0 };
    }
  } while (cursor !== '0');
}
