import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { Backlogs, windowMs, type Backlog } from './backlogs';

/** Calls of this time are told to the other processes together (docs/adr/0044). */
export const tellingMs = 200;
/** Callers of one command to Redis. */
const toldTogetherMax = 500;
/** Callers that wait to be told. More of them are limited by each process alone. */
const untoldMax = 10_000;

/**
 * Adds to the backlogs and returns them, in microseconds of the clock of Redis. The first key holds
 * the number of the last telling of this process: one that comes again adds nothing. All is read
 * before anything is written, so that a command that fails has added nothing.
 */
const addToBacklogs = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local told = redis.call('MGET', unpack(KEYS))
local isRepeated = told[1] == ARGV[1]
local tills = {}
for at = 2, #KEYS do
  local till = math.max(tills[KEYS[at]] or tonumber(told[at] or '') or 0, now)
  tills[KEYS[at]] = isRepeated and till or till + ARGV[at]
end
if not isRepeated then redis.call('SET', KEYS[1], ARGV[1], 'PX', ${2 * windowMs}) end
local backlogs = {}
for at = 2, #KEYS do
  local leftMs = math.ceil((tills[KEYS[at]] - now) / 1000)
  if not isRepeated then
    redis.call('SET', KEYS[at], string.format('%.0f', tills[KEYS[at]]), 'PX', math.max(leftMs, 1))
  end
  backlogs[at - 1] = tills[KEYS[at]] - now
end
return backlogs`;

/** Callers that a process remembers for each limit, so that a flood of addresses has an end. */
const callersRememberedMax = 100_000;

interface RateLimitOptions {
  /** Names the limit in Redis. */
  readonly name: string;
  readonly perMinute: number;
  readonly redis: Pick<Redis, 'eval'>;
  readonly onFault: (error: unknown) => void;
}

/** Calls that one command adds to the backlogs in Redis. It is repeated until Redis answers. */
interface Telling {
  readonly number: number;
  readonly backlogs: readonly Backlog[];
  readonly addedUs: readonly number[];
}

/** Returns null if there is no limit: 0 calls per minute. */
export const createRateLimit = (options: RateLimitOptions): RateLimit | null =>
  options.perMinute === 0 ? null : new RateLimit(options);

/**
 * A limit of calls that processes share without asking each other. Each counts for itself at once,
 * and tells the others through Redis a little later. Without Redis, each counts alone.
 */
export class RateLimit {
  readonly #id = randomUUID();
  readonly #backlogs: Backlogs;
  readonly #untold = new Set<Backlog>();
  #unanswered: Telling | undefined;
  #tellings = 0;
  /** The time since which Redis lacks calls. */
  #failingSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isTelling = false;
  #isClosed = false;

  constructor(private readonly options: RateLimitOptions) {
    this.#backlogs = new Backlogs(options.perMinute, callersRememberedMax);
  }

  /** Throws `rate_limited` once the caller has made too many calls. Hot path. */
  count(id: string): void {
    const backlog = this.#backlogs.count(id);
    if (this.#untold.size >= untoldMax && !this.#untold.has(backlog)) {
      this.#backlogs.takeFresh(backlog);
      return;
    }
    this.#untold.add(backlog);
    this.#tellLater();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #tellLater(): void {
    if (this.#isTelling || this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#isTelling = true;
      void this.#tellAll().finally(() => {
        this.#isTelling = false;
        if (this.#untold.size > 0 || this.#unanswered) this.#tellLater();
      });
    }, tellingMs).unref();
  }

  async #tellAll(): Promise<void> {
    try {
      if (this.#unanswered) await this.#tell(this.#unanswered);
      for (let left = this.#untold.size; left > 0; left -= toldTogetherMax) {
        await this.#tell(this.#nextTelling());
      }
      this.#failingSince = undefined;
    } catch (error) {
      this.options.onFault(error);
      this.#failingSince ??= performance.now();
      if (performance.now() - this.#failingSince > windowMs) this.#giveUp();
    }
  }

  #nextTelling(): Telling {
    const backlogs = [...this.#untold].slice(0, toldTogetherMax);
    for (const backlog of backlogs) this.#untold.delete(backlog);
    const addedUs = backlogs.map((each) => Math.ceil(this.#backlogs.takeFresh(each) * 1_000));
    return { number: (this.#tellings += 1), backlogs, addedUs };
  }

  async #tell(telling: Telling): Promise<void> {
    this.#unanswered = telling;
    const { name, redis } = this.options;
    const { number, backlogs, addedUs } = telling;
    const prefix = `{glovebox}:rate:${name}`;
    const keys = [`${prefix}:told:${this.#id}`, ...backlogs.map(({ id }) => `${prefix}:${id}`)];
    const shared = await redis.eval(addToBacklogs, keys.length, ...keys, number, ...addedUs);
    if (!Array.isArray(shared)) throw new Error('Redis answered with something else than backlogs');
    this.#unanswered = undefined;
    backlogs.forEach((backlog, at) => this.#backlogs.learn(backlog, Number(shared[at]) / 1_000));
  }

  /** Calls of a minute ago would be worked off by now: told late, they would count twice. */
  #giveUp(): void {
    for (const backlog of this.#untold) this.#backlogs.takeFresh(backlog);
    this.#untold.clear();
    this.#unanswered = undefined;
    this.#failingSince = undefined;
  }
}
