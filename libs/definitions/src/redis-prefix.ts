import type { Redis } from 'ioredis';
import type { DefinitionKind } from './definition';
import type { Head, LogEntry, LogPart } from './log';

/** One hash tag, so that every key of the log lives in one slot. */
const keys = {
  head: '{glovebox}:definitions:head',
  entries: '{glovebox}:definitions:entries',
  order: '{glovebox}:definitions:order',
  confirmed: '{glovebox}:definitions:confirmed',
};
export const changeChannel = '{glovebox}:definitions:changed';
export const acknowledgementChannel = '{glovebox}:definitions:acknowledged';

/** How long Redis is believed after Postgres was last asked. */
export const confirmationMs = 500;

/**
 * Moves Redis from one version to a later one, if that is where it is: a late writer, a replay or a
 * second relay changes nothing. Then confirms the head until a time that counts from before
 * Postgres was read, so that a stalled relay cannot make old news look fresh.
 */
const applyScript = `
local head, to = redis.call('GET', KEYS[1]) or '', ARGV[2]
local applied = false
if head == ARGV[1] and head ~= to then
  if ARGV[3] == 'anew' then redis.call('DEL', KEYS[2], KEYS[3]) end
  for i = 6, #ARGV, 3 do
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
    redis.call('ZADD', KEYS[3], ARGV[i + 1], ARGV[i])
  end
  redis.call('SET', KEYS[1], to)
  head = to
  applied = true
end
if head == to then
  local now = redis.call('TIME')
  local left = tonumber(ARGV[4]) - (tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000))
  left = math.min(left, ${confirmationMs})
  if left > 0 then redis.call('SET', KEYS[4], head, 'PX', left) end
end
local receivers = 0
if applied or ARGV[5] == 'announce' then receivers = redis.call('PUBLISH', '${changeChannel}', head) end
return { head, receivers }
`;

const changesScript = `
local head = redis.call('GET', KEYS[1])
if not head or redis.call('GET', KEYS[4]) ~= head then return { '' } end
local names = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])
local answer = { head }
for _, name in ipairs(names) do
  answer[#answer + 1] = name
  answer[#answer + 1] = redis.call('ZSCORE', KEYS[3], name)
  answer[#answer + 1] = redis.call('HGET', KEYS[2], name)
end
return answer
`;

type Scripted = Redis & {
  applyDefinitions(...args: (string | number)[]): Promise<[string, number]>;
  definitionChanges(...args: (string | number)[]): Promise<string[]>;
};

/** Redis's copy of the log: always a prefix of it, or not believed. */
export class RedisPrefix {
  readonly #redis: Scripted;

  constructor(redis: Redis) {
    redis.defineCommand('applyDefinitions', { numberOfKeys: 4, lua: applyScript });
    redis.defineCommand('definitionChanges', { numberOfKeys: 4, lua: changesScript });
    this.#redis = redis as Scripted;
  }

  /** Where Redis says that it is, also as the text that it says it in. */
  async head(): Promise<{ readonly text: string; readonly head: Head | undefined }> {
    const text = (await this.#redis.get(keys.head)) ?? '';
    return { text, head: parseHead(text) };
  }

  /** Redis's own clock, in milliseconds. */
  async now(): Promise<number> {
    const [seconds, micros] = await this.#redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  /** Takes the part if Redis still says `before`; either way, tells where Redis is now. */
  async apply(
    before: string,
    part: LogPart,
    options: { anew: boolean; confirmUntil: number; announce: boolean },
  ): Promise<{ head: Head | undefined; receivers: number }> {
    const [head, receivers] = await this.#redis.applyDefinitions(
      ...Object.values(keys),
      before,
      formatHead({ epoch: part.head.epoch, version: part.upTo }),
      options.anew ? 'anew' : '',
      options.confirmUntil,
      options.announce ? 'announce' : '',
      ...part.entries.flatMap((entry) => [
        `${entry.kind}:${entry.id}:${entry.tenantId}`,
        entry.version,
        entry.payload?.toString('base64') ?? '',
      ]),
    );
    return { head: parseHead(head), receivers };
  }

  /** Every sealed payload that Redis holds, believed or not. */
  async *payloads(): AsyncGenerator<Buffer> {
    let cursor = '0';
    do {
      const [next, fields] = await this.#redis.hscan(keys.entries, cursor, 'COUNT', 500);
      cursor = next;
      for (const [at, value] of fields.entries()) {
        if (at % 2 === 1 && value !== '') yield Buffer.from(value, 'base64');
      }
    } while (cursor !== '0');
  }

  /** Undefined when Redis cannot be believed right now. */
  async changes(after: number, limit: number): Promise<LogPart | undefined> {
    const [headText, ...fields] = await this.#redis.definitionChanges(
      ...Object.values(keys),
      after,
      limit,
    );
    const head = parseHead(headText ?? '');
    if (!head) return undefined;
    const entries: LogEntry[] = [];
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const [kind, id, tenantId] = (fields[at] ?? '').split(':');
      if (!kind || !id || !tenantId) return undefined;
      const payload = fields[at + 2] ?? '';
      entries.push({
        version: Number(fields[at + 1]),
        kind: kind as DefinitionKind,
        id,
        tenantId,
        payload: payload === '' ? null : Buffer.from(payload, 'base64'),
      });
    }
    const last = entries.at(-1);
    return { head, entries, upTo: last && entries.length === limit ? last.version : head.version };
  }
}

export function formatHead(head: Head): string {
  return `${head.epoch}:${head.version}`;
}

export function parseHead(text: string): Head | undefined {
  const match = /^([0-9a-f-]{36}):(\d+)$/.exec(text);
  return match ? { epoch: match[1] ?? '', version: Number(match[2]) } : undefined;
}
