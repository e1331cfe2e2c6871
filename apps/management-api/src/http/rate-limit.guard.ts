import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Problem } from '@glovebox/problems';
import { describeError } from '@glovebox/service-host';
import { Context, type ManagementContext } from '../context';
import { requestOf } from './request';

const windowMs = 60_000;

/** Counts a call in the key's minute; answers 0, or for a call too many the rest of the minute. */
const countCall = `
local calls = redis.call('INCR', KEYS[1])
if calls == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if calls <= tonumber(ARGV[1]) then return 0 end
return redis.call('PTTL', KEYS[1])`;

/** How often one key may call, over all instances. Without Redis nobody counts, and all may pass. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const limit = this.ctx.config.RATE_LIMIT_PER_MINUTE;
    if (limit === 0) return true;
    const key = this.ctx.headers.read(requestOf(context), 'api-key') ?? '';
    const leftMs = await this.#count(`glovebox:rate:${this.ctx.keyHash(key)}`, limit);
    if (leftMs > 0) {
      const retryAfterSeconds = Math.ceil(leftMs / 1_000);
      throw new Problem('rate_limited', { retryAfterSeconds });
    }
    return true;
  }

  async #count(name: string, limit: number): Promise<number> {
    try {
      return Number(await this.ctx.definitions.redis.eval(countCall, 1, name, limit, windowMs));
    } catch (error) {
      this.ctx.logger.debug({ error: describeError(error) }, 'a call was not counted');
      return 0;
    }
  }
}
