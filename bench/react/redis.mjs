import { negligible, post, withRelay } from '../gateway/round-trips.mjs';
import { check } from '../lib/checks.mjs';
import { bodyOf, createReactor } from './setting.mjs';
import { rates } from './sync.mjs';

/** A gateway tells Redis of the calls of 200 ms together (docs/adr/0044). */
const tellingsPerSecond = 5;

/**
 * P6: a warm run does not query Redis. With call rates, Redis is told a few times a second, however
 * many calls there are.
 *
 * @param {import('../types.js').ReactSetting} setting
 */
export async function countRedisOfRuns(setting) {
  const { path, headers } = await createReactor(setting);
  const body = await bodyOf(setting);
  /** @param {Readonly<Record<string, string>>} others */
  const count = (others) => {
    const upstream = { env: 'REDIS_URL', url: setting.dev.redisUrl, others };
    return withRelay(setting, upstream, (countWhile, url) =>
      countWhile(() => post(url + path, headers, body)),
    );
  };
  const [off, on] = [await count({}), await count(rates)];
  const what = 'round trips to Redis';
  return [
    check('P6', `${what} of a warm run, call rates off`, off.perCall, ['≤', negligible]),
    check('P6', `${what} a second, call rates on`, on.perSecond, ['≤', tellingsPerSecond]),
  ];
}
