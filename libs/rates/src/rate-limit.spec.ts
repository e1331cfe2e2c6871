import { Redis } from 'ioredis';
import { startRedis, waitFor, type PrivateRedis } from '@glovebox/testing';
import { createRateLimit, tellingMs, type RateLimit } from './rate-limit';

const callers = Array.from({ length: 1_200 }, (_, nth) => `caller ${nth}`);
let store: PrivateRedis;
let redis: Redis;
const open = new Set<RateLimit>();

beforeAll(async () => {
  store = await startRedis();
  redis = new Redis(store.url);
});

afterEach(async () => {
  jest.restoreAllMocks();
  for (const limit of open) limit.close();
  open.clear();
  await redis.config('SET', 'maxmemory', '0');
});

afterAll(async () => {
  redis.disconnect();
  await store.stop();
});

interface Parts {
  readonly name: string;
  readonly perMinute: number;
  readonly redis?: Pick<Redis, 'eval'>;
}

function rateLimit(parts: Parts): { limit: RateLimit; faults: string[] } {
  const faults: string[] = [];
  const onFault = (error: unknown): void => void faults.push(String(error));
  const limit = createRateLimit({ redis, onFault, ...parts });
  if (!limit) throw new Error('a limit of no calls is none');
  open.add(limit);
  return { limit, faults };
}

/** Ten calls a minute: Redis keeps six seconds for each call. */
const slow = { perMinute: 10, callMs: 6_000 };

/** Calls of each caller that Redis knows of, as all of them were made at most six seconds ago. */
async function callsKnown(name: string): Promise<number[]> {
  const asked = redis.pipeline();
  for (const caller of callers) asked.pttl(`{glovebox}:rate:${name}:${caller}`);
  const all = (await asked.exec()) ?? [];
  return all.map(([, leftMs]) => Math.max(0, Math.ceil(Number(leftMs) / slow.callMs)));
}

const known = async (name: string, calls: number): Promise<boolean> =>
  (await callsKnown(name)).every((each) => each === calls);

it('callers that call again while others are told are told without a fault', async () => {
  let tellings = 0;
  const busy: Pick<Redis, 'eval'> = {
    eval: (...told: unknown[]): Promise<unknown> => {
      if ((tellings += 1) === 1) callEach();
      return redis.eval(...(told as Parameters<Redis['eval']>));
    },
  };
  const { limit, faults } = rateLimit({ name: 'fast', perMinute: 60_000, redis: busy });
  const callEach = (): void => callers.forEach((caller) => limit.count(caller));
  callEach();
  await waitFor(() => tellings >= 4);
  callEach();
  await waitFor(() => tellings >= 6);
  expect(faults).toEqual([]);
});

it('calls of all callers reach Redis once it can write again', async () => {
  const { limit, faults } = rateLimit({ name: 'full', ...slow });
  await redis.config('SET', 'maxmemory', '1');
  for (const caller of callers) limit.count(caller);
  await waitFor(() => faults.length > 0);
  await redis.config('SET', 'maxmemory', '0');
  await waitFor(() => known('full', 1));
});

it('calls that Redis lacked for more than a minute are worked off, and not told any more', async () => {
  const { limit, faults } = rateLimit({ name: 'away', ...slow });
  await redis.config('SET', 'maxmemory', '1');
  for (const caller of callers) limit.count(caller);
  await waitFor(() => faults.length > 0);
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + 61_000);
  const before = faults.length;
  await waitFor(() => faults.length > before);
  await redis.config('SET', 'maxmemory', '0');
  limit.count('caller 1');
  await waitFor(async () => (await callsKnown('away'))[1] === 1);
  expect((await callsKnown('away')).filter((calls) => calls > 0)).toEqual([1]);
});

it('calls whose telling was carried out and not answered are told once', async () => {
  let lost = 0;
  const unanswering: Pick<Redis, 'eval'> = {
    eval: async (...told: unknown[]): Promise<unknown> => {
      const answer = await redis.eval(...(told as Parameters<Redis['eval']>));
      if ((lost += 1) > 3) return answer;
      throw new Error('the answer was lost');
    },
  };
  const { limit, faults } = rateLimit({ name: 'lost', ...slow, redis: unanswering });
  for (const caller of callers) limit.count(caller);
  await waitFor(() => faults.length === 1);
  for (const caller of callers) limit.count(caller);
  await waitFor(() => known('lost', 2));
  expect(faults).toHaveLength(3);
});

it('one key that holds something else keeps no other caller from being told', async () => {
  await redis.lpush('{glovebox}:rate:foreign:caller 7', 'something else');
  const { limit, faults } = rateLimit({ name: 'foreign', ...slow });
  for (const caller of callers) limit.count(caller);
  await waitFor(() => known('foreign', 1));
  expect(faults).toEqual([]);
});

it('many calls cost Redis one command a round', async () => {
  let tellings = 0;
  const counting: Pick<Redis, 'eval'> = {
    eval: (...told: unknown[]): Promise<unknown> => {
      tellings += 1;
      return redis.eval(...(told as Parameters<Redis['eval']>));
    },
  };
  const begun = performance.now();
  const { limit } = rateLimit({ name: 'many', perMinute: 6_000_000, redis: counting });
  await waitFor(() => {
    for (let call = 0; call < 1_000; call += 1) limit.count('caller');
    return tellings >= 3;
  });
  const rounds = Math.ceil((performance.now() - begun) / tellingMs);
  expect(tellings).toBeLessThanOrEqual(rounds + 1);
});

it('a limit of 0 calls is none', () => {
  const onFault = (): void => undefined;
  expect(createRateLimit({ name: 'none', perMinute: 0, redis, onFault })).toBeNull();
});
