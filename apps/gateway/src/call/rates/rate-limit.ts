import type { Redis } from 'ioredis';
import { Backlogs, type Backlog } from './backlogs';

/** Calls of this time are told to the other processes together (docs/adr/0044). */
export const tellingMs = 200;
/** Callers of one command to Redis. */
const toldTogetherMax = 500;
/** Callers that wait to be told. More of them are limited by each process alone. */
const untoldMax = 10_000;

/** Adds to the backlogs and returns them, in microseconds of the clock of Redis. */
const addToBacklogs = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local backlogs = {}
for at, key in ipairs(KEYS) do
  local till = math.max(tonumber(redis.call('GET', key) or '0'), now) + ARGV[at]
  redis.call('SET', key, string.format('%.0f', till), 'PX', math.ceil((till - now) / 1000))
  backlogs[at] = till - now
end
return backlogs`;

interface Options {
  /** Names the limit in Redis. */
  readonly name: string;
  readonly perMinute: number;
  /** Callers that are remembered. */
  readonly rememberedMax: number;
  readonly redis: Pick<Redis, 'eval'>;
  readonly onFault: (error: unknown) => void;
}

/**
 * A limit of calls that processes share without asking each other. Each counts for itself at once,
 * and tells the others through Redis a little later. Without Redis, each counts alone.
 */
export class RateLimit {
  readonly #backlogs: Backlogs;
  readonly #untold = new Set<Backlog>();
  #telling: NodeJS.Timeout | undefined;
  #isTelling = false;

  constructor(private readonly options: Options) {
    this.#backlogs = new Backlogs(options.perMinute, options.rememberedMax);
  }

  /** Throws `rate_limited` once the caller has made too many calls. Hot path. */
  count(id: string): void {
    const backlog = this.#backlogs.count(id);
    if (this.#untold.size >= untoldMax) return;
    this.#untold.add(backlog);
    if (!this.#isTelling) this.#telling ??= this.#tellLater();
  }

  close(): void {
    clearTimeout(this.#telling);
  }

  #tellLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#telling = undefined;
      this.#isTelling = true;
      void this.#tellAll().finally(() => {
        this.#isTelling = false;
        if (this.#untold.size > 0) this.#telling = this.#tellLater();
      });
    }, tellingMs).unref();
  }

  async #tellAll(): Promise<void> {
    const all = [...this.#untold];
    this.#untold.clear();
    try {
      for (let at = 0; at < all.length; at += toldTogetherMax) {
        await this.#tell(all.slice(at, at + toldTogetherMax));
      }
    } catch (error) {
      this.options.onFault(error);
    }
  }

  async #tell(together: readonly Backlog[]): Promise<void> {
    const { name, redis } = this.options;
    const keys = together.map(({ id }) => `{glovebox}:rate:${name}:${id}`);
    const added = together.map((backlog) => Math.ceil(this.#backlogs.takeFresh(backlog) * 1_000));
    const shared = await redis.eval(addToBacklogs, keys.length, ...keys, ...added);
    if (!Array.isArray(shared)) throw new Error('Redis answered with something else than backlogs');
    together.forEach((backlog, at) => this.#backlogs.learn(backlog, Number(shared[at]) / 1_000));
  }
}
