import { Problem } from '@glovebox/problems';
import { describeError } from '@glovebox/service-host';
import type { ManagementContext } from '../context';
import type { ApiRequest } from './request';

const windowMs = 60_000;

/** Counts a call of the key. Returns 0, or the rest of the minute once the limit is exceeded. */
const countCall = `
local calls = redis.call('INCR', KEYS[1])
if calls == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if calls <= tonumber(ARGV[1]) then return 0 end
return redis.call('PTTL', KEYS[1])`;

/** Limits the calls of one key across all instances. Without Redis, nothing is limited. */
export async function checkRate(
  ctx: ManagementContext,
  { keyHash }: ApiRequest,
  limit: number,
): Promise<void> {
  const leftMs = await count(ctx, `glovebox:rate:${keyHash}`, limit);
  if (leftMs > 0) {
    throw new Problem('rate_limited', { retryAfterSeconds: Math.ceil(leftMs / 1_000) });
  }
}

async function count(ctx: ManagementContext, name: string, limit: number): Promise<number> {
  try {
    return Number(await ctx.definitions.redis.eval(countCall, 1, name, limit, windowMs));
  } catch (error) {
    ctx.logger.debug({ error: describeError(error) }, 'a call was not counted');
    return 0;
  }
}
