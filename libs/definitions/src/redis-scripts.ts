export const changeChannel = '{glovebox}:definitions:changed';

/** One hash tag, so that every key of the log lives in one slot. */
export const keys = {
  head: '{glovebox}:definitions:head',
  /** `kind:id:tenant` → sealed payload, and → version. */
  entries: '{glovebox}:definitions:entries',
  order: '{glovebox}:definitions:order',
  /** Follower → the newest ticket that it drew. */
  tickets: '{glovebox}:definitions:tickets',
  /** A relay's answer after it read Postgres: `head`, and follower → the ticket drawn before. */
  answers: '{glovebox}:definitions:answers',
  /** Writer → rounds of the other relays since it last spoke. */
  writers: '{glovebox}:definitions:writers',
  /** `writer follower` → the ticket after which Postgres refused the writer. */
  refusals: '{glovebox}:definitions:refusals',
  /** `kind:id:tenant` → the proof that the entry is its version. */
  proofs: '{glovebox}:definitions:proofs',
  /** Proofs that nothing is missing from the newest parts, in the order of their ends. */
  parts: '{glovebox}:definitions:parts',
  /** Follower → the proof of the answer to its ticket. */
  answerProofs: '{glovebox}:definitions:answer-proofs',
  /** `writer follower` → the version that the writer knew of, and the proof of its refusal. */
  refusalProofs: '{glovebox}:definitions:refusal-proofs',
  /** `kind:id:tenant` of a deleted definition → the second at which its deletion came here. */
  gone: '{glovebox}:definitions:gone',
};

/**
 * Deletions that are kept, and for how long. A follower that missed one that is forgotten finds by
 * the proof of its part that it is missing, and reads Postgres.
 */
export const goneMax = 512;
const goneForSeconds = 30;

/** A follower that is further behind reads Postgres. */
const provenPartsMax = 512;

/**
 * A process that ended without a farewell is forgotten after this time. No promise rests on it, nor
 * on any clock here.
 */
const forgottenAfterMs = 600_000;
/** A writer that was killed is forgotten after so many rounds of others that reach Postgres. */
const roundsOfSilence = 200;

const prelude = `
local head = redis.call('GET', KEYS[1]) or ''
-- Somebody deleted or evicted one of the keys: what is left is no prefix of the log.
local entries, order = redis.call('HLEN', KEYS[2]), redis.call('ZCARD', KEYS[3])
local version = tonumber(string.match(head, ':(%d+)$'))
local sound = version and entries == order and (entries > 0 or version == 0)
local function forgetLater(key)
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ${forgottenAfterMs}) end
end
`;

/** For a relay, before it reads Postgres: returns the head of Redis, and the tickets there. */
export const surveyScript = `${prelude}
if ARGV[1] ~= '' then redis.call('HSET', KEYS[6], ARGV[1], 0) end
return { head, sound and 'sound' or '', redis.call('HGETALL', KEYS[4]) }
`;

/**
 * For a relay, after it read Postgres. Moves Redis from one version to a later one, if Redis is
 * still at the first: a late writer, a replay or a second relay changes nothing. Contents that are
 * no prefix of this log are replaced from the beginning: another log, or one that lost keys. A
 * complete part comes with the tickets that were there before the read: Postgres's head was this
 * after they were drawn.
 */
export const applyScript = `${prelude}
local now = tonumber(redis.call('TIME')[1])
local function forget(names)
  for _, name in ipairs(names) do
    -- The newest entry stays: a Redis without entries is no prefix.
    if name ~= redis.call('ZREVRANGE', KEYS[3], 0, 0)[1] then
      if redis.call('HGET', KEYS[2], name) == '' then
        redis.call('HDEL', KEYS[2], name)
        redis.call('ZREM', KEYS[3], name)
        redis.call('HDEL', KEYS[8], name)
      end
      redis.call('ZREM', KEYS[12], name)
    end
  end
end
local before, to, mode, announce, relay, tickets, manifest, upTo = unpack(ARGV, 1, 8)
local fits = mode == 'replace' or (sound and mode == 'continue') or (not sound and mode == 'repair')
local applied = false
if head == before and fits and (head ~= to or mode == 'repair') then
  if mode ~= 'continue' then
    redis.call('DEL', KEYS[2], KEYS[3], KEYS[8], KEYS[9], KEYS[12])
  end
  if manifest ~= '' then
    redis.call('ZADD', KEYS[9], upTo, manifest)
    redis.call('ZREMRANGEBYRANK', KEYS[9], 0, -${provenPartsMax + 1})
  end
  for i = 9 + 3 * tickets, #ARGV, 4 do
    local name, payload = ARGV[i], ARGV[i + 2]
    redis.call('HSET', KEYS[2], name, payload)
    redis.call('ZADD', KEYS[3], ARGV[i + 1], name)
    redis.call('HSET', KEYS[8], name, ARGV[i + 3])
    if payload == '' then redis.call('ZADD', KEYS[12], now, name) end
  end
  redis.call('SET', KEYS[1], to)
  head = to
  applied = true
end
forget(redis.call('ZRANGE', KEYS[12], 0, -${goneMax + 1}))
forget(redis.call('ZRANGEBYSCORE', KEYS[12], '-inf', now - ${goneForSeconds}))
if tonumber(tickets) > 0 then
  redis.call('DEL', KEYS[5], KEYS[10])
  redis.call('HSET', KEYS[5], 'head', to)
  for i = 9, 6 + 3 * tickets, 3 do
    redis.call('HSET', KEYS[5], ARGV[i], ARGV[i + 1])
    redis.call('HSET', KEYS[10], ARGV[i], ARGV[i + 2])
  end
  forgetLater(KEYS[5])
  forgetLater(KEYS[10])
  for _, writer in ipairs(redis.call('HKEYS', KEYS[6])) do
    if writer ~= relay and redis.call('HINCRBY', KEYS[6], writer, 1) > ${roundsOfSilence} then
      redis.call('HDEL', KEYS[6], writer)
    end
  end
end
local receivers = 0
if applied or announce ~= '' then receivers = redis.call('PUBLISH', '${changeChannel}', head) end
return { head, receivers }
`;

/**
 * For a writer that Postgres refuses: says so after these tickets, and that all it has acknowledged
 * is here. It says nothing to a Redis that has less than the writer knows of.
 */
export const refuseScript = `${prelude}
local writer, epoch, known = unpack(ARGV, 1, 3)
if not sound or string.match(head, '^(.*):') ~= epoch or version < tonumber(known) then return 0 end
for i = 4, #ARGV, 3 do
  redis.call('HSET', KEYS[7], writer .. ' ' .. ARGV[i], ARGV[i + 1])
  redis.call('HSET', KEYS[11], writer .. ' ' .. ARGV[i], ARGV[i + 2])
end
forgetLater(KEYS[7])
forgetLater(KEYS[11])
return 1
`;

/** For a follower: draws a ticket, and returns the answers to its tickets and the new entries. */
export const lookScript = `${prelude}
local follower, ticket, after, entriesMax, bytesMax = unpack(ARGV, 1, 5)
redis.call('HSET', KEYS[4], follower, ticket)
forgetLater(KEYS[4])
if not sound then return { '' } end
local answered = redis.call('HMGET', KEYS[5], 'head', follower)
local refusals = {}
for _, writer in ipairs(redis.call('HKEYS', KEYS[6])) do
  local name = writer .. ' ' .. follower
  refusals[#refusals + 1] = writer
  refusals[#refusals + 1] = redis.call('HGET', KEYS[7], name) or '0'
  refusals[#refusals + 1] = redis.call('HGET', KEYS[11], name) or ''
end
local answer = { head, answered[1] or '', answered[2] or '', refusals, '' }
answer[6] = redis.call('HGET', KEYS[10], follower) or ''
-- As many as there is room for: of what they do not cover, Postgres is asked.
local parts, partBytes = {}, 0
for _, part in ipairs(redis.call('ZRANGEBYSCORE', KEYS[9], '(' .. after, '+inf')) do
  partBytes = partBytes + #part
  if #parts > 0 and partBytes > tonumber(bytesMax) then break end
  parts[#parts + 1] = part
end
answer[7] = parts
local names = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. after, '+inf', 'LIMIT', 0, entriesMax)
if #names == tonumber(entriesMax) then answer[5] = 'full' end
local bytes = 0
for i, name in ipairs(names) do
  local payload = redis.call('HGET', KEYS[2], name)
  if not payload then return { '' } end
  answer[#answer + 1] = name
  answer[#answer + 1] = redis.call('ZSCORE', KEYS[3], name)
  answer[#answer + 1] = payload
  answer[#answer + 1] = redis.call('HGET', KEYS[8], name) or ''
  bytes = bytes + #payload
  if i < #names and bytes >= tonumber(bytesMax) then
    answer[5] = 'full'
    break
  end
end
return answer
`;
