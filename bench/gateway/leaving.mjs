import { check } from '../lib/checks.mjs';
import { until } from '../lib/waiting.mjs';
import { beginCall, statusOf } from './calls.mjs';
import { createProxy } from './setting.mjs';

const calls = 1_000;
const withinMs = 1_000;

/**
 * P10: callers leave while they wait, while they read and while they send.
 *
 * @param {import('../types.js').Setting} setting
 * @returns {Promise<import('../types.js').Check[]>}
 */
export async function measureLeaving(setting) {
  const { dev, destination } = setting;
  const { headers } = await createProxy(setting, { destination_url: destination.url });
  const proxy = `${dev.baseUrl}/proxy`;
  // An encoded body is forwarded as it comes.
  const encoded = { ...headers, 'Content-Encoding': 'gzip' };
  const half = { method: 'POST', headers: encoded, contentLength: 2_000, body: 'x'.repeat(1_000) };
  const begin = () => beginCall(`${proxy}/hang`, { headers });
  const kinds = [
    begin,
    () => beginCall(`${proxy}/hang/begun`, { headers }),
    () => beginCall(`${proxy}/hang/reading`, half),
  ];
  const begun = Array.from({ length: calls }, (_, at) => (kinds[at % kinds.length] ?? begin)());
  await until(() => destination.waiting === calls, { what: 'the calls have arrived' });
  destination.givenUpAt = [];
  const leftAt = performance.now();
  for (const { req } of begun) req.destroy();
  await until(() => destination.waiting === 0, { what: 'the calls were given up' }).catch(() => {
    console.error(`${destination.waiting} calls were never given up`);
  });
  const inTime = destination.givenUpAt.filter((at) => at - leftAt <= withinMs).length;
  const last = Math.max(...destination.givenUpAt) - leftAt;
  destination.release();
  return [
    check('P10', `given up within 1 s, of ${calls} whose caller left`, inTime, ['≥', calls]),
    check('P10', 'the last one given up after', last, ['≤', withinMs], ' ms'),
    check('P10', 'calls at once that arrive afterwards', await slots(setting, proxy, headers), [
      '≥',
      calls,
    ]),
  ];
}

/**
 * Counts calls that arrive at once: a slot that an abandoned call still holds would keep one away.
 *
 * @param {import('../types.js').Setting} setting
 * @param {string} proxy
 * @param {import('../types.js').Headers} headers
 */
async function slots({ destination }, proxy, headers) {
  const begun = Array.from({ length: calls }, () => beginCall(`${proxy}/hang`, { headers }));
  await until(() => destination.waiting === calls, { withinMs: 15_000, what: 'slots' }).catch(
    () => undefined,
  );
  const arrived = destination.waiting;
  destination.release();
  for (const { req } of arrived < calls ? begun : []) req.destroy();
  const statuses = await Promise.allSettled(begun.map(statusOf));
  return statuses.filter((each) => each.status === 'fulfilled' && each.value === 200).length;
}
