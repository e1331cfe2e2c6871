import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { check } from './checks.mjs';
import { createProxy } from './setting.mjs';

const windowMs = 3_000;
const callers = 20;
/** What Redis does by itself in such a window differs by some commands from window to window. */
const negligible = 0.01;

/** P6: what Redis is asked in a window with calls, less what it is asked in one without. */
export async function countRedisCommands(setting) {
  const { dev, destination } = setting;
  const { headers } = await createProxy(setting, { destination_url: destination.url });
  const redis = new Redis(dev.redisUrl);
  try {
    await callFor(500, dev.baseUrl, headers);
    const idle = await commandsDuring(redis, () => sleep(windowMs));
    let calls = 0;
    const loaded = await commandsDuring(redis, async () => {
      calls = await callFor(windowMs, dev.baseUrl, headers);
    });
    const perCall = Math.max(0, loaded - idle) / calls;
    const what = `Redis commands per warm call, over ${calls} calls`;
    return [check('P6', what, perCall, ['≤', negligible])];
  } finally {
    redis.disconnect();
  }
}

async function commandsDuring(redis, work) {
  const before = await commandsSoFar(redis);
  await work();
  return (await commandsSoFar(redis)) - before;
}

async function commandsSoFar(redis) {
  const stats = await redis.info('commandstats');
  return [...stats.matchAll(/:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

async function callFor(ms, baseUrl, headers) {
  const end = performance.now() + ms;
  let calls = 0;
  const caller = async () => {
    while (performance.now() < end) {
      const answer = await fetch(`${baseUrl}/proxy/small`, { headers });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`a call got ${answer.status}`);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return calls;
}
