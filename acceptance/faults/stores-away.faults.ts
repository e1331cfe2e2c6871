import { setTimeout as delay } from 'node:timers/promises';
import { Breakable } from './breakable';
import { call, create, reactorOf, runningProduct, until, type Answer } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const product = runningProduct();
const { adminKey, privateKey } = product;
const awayMs = 60_000;
const inForceAfterMs = 1_000;
const successShare = 0.999;

interface Target {
  readonly id: string;
  readonly key: string;
}

let receiver: Receiver;
let stack: Breakable;
let front: string;
let target: Target;
let tokenId: string;
let reactorId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  stack = await Breakable.start(product);
  [front = ''] = stack.gateways;
  target = await newProxy('0');
  const own = { ...product, baseUrl: front };
  tokenId = (await create(own, '/tokens', { type: 'token', data: 41 }, privateKey)).id;
  reactorId = await reactorOf(own, 'module.exports = async () => ({ raw: {} });');
});

afterAll(async () => {
  await stack.close();
  await receiver.close();
});

async function newProxy(path: string): Promise<Target> {
  const body = { name: 'target', destination_url: `${receiver.url}/${path}` };
  const { id, key } = await create({ ...product, baseUrl: front }, '/proxies', body);
  return { id, key: String(key) };
}

const change = ({ id }: Target, path: string): Promise<Answer> =>
  call('PATCH', `${front}/proxies/${id}`, {
    key: adminKey,
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { destination_url: `${receiver.url}/${path}` },
  });
const remove = ({ id }: Target): Promise<Answer> =>
  call('DELETE', `${front}/proxies/${id}`, { key: adminKey });
const invoke = (gateway: string, { key }: Target, body?: unknown): Promise<Answer> =>
  call(body === undefined ? 'GET' : 'POST', `${gateway}/proxy`, {
    key: privateKey,
    headers: { 'SVC-PROXY-KEY': key },
    ...(body === undefined ? {} : { body }),
  });

/** The destination that the call reached. */
async function wentTo(gateway: string, proxy: Target): Promise<string> {
  const before = receiver.received.length;
  const { status } = await invoke(gateway, proxy);
  return status === 200 ? (receiver.received[before]?.url ?? '') : String(status);
}

/** Makes plain calls on every gateway while the work lasts. */
async function callsDuring(
  work: () => Promise<unknown>,
): Promise<{ calls: number; failed: string[] }> {
  let [calls, over] = [0, false];
  const failed: string[] = [];
  const caller = async (gateway: string): Promise<void> => {
    while (!over) {
      const { status, text } = await invoke(gateway, target);
      calls += 1;
      if (status !== 200) failed.push(`${status} ${text}`);
      await delay(5);
    }
  };
  const callers = stack.gateways.map(caller);
  await work().finally(() => (over = true));
  await Promise.all(callers);
  return { calls, failed };
}

function expectSuccess({ calls, failed }: { calls: number; failed: string[] }): void {
  expect(calls).toBeGreaterThan(100);
  if (1 - failed.length / calls >= successShare) return;
  throw new Error(`${failed.length} of ${calls} calls failed: ${failed.slice(0, 3).join(', ')}`);
}

/** Changes the proxy and checks that every gateway sees the change within a second. */
async function expectInForce(path: string): Promise<void> {
  expect((await change(target, path)).status).toBe(204);
  await delay(inForceAfterMs);
  for (const gateway of stack.gateways) {
    expect((await invoke(gateway, target)).status).toBe(200);
    expect(receiver.received.at(-1)?.url).toBe(`/${path}`);
  }
}

describe('while all stores are healthy', () => {
  it('the next call on every gateway sees an acknowledged change: 200 of 200', async () => {
    const tookMs: number[] = [];
    const misses: string[] = [];
    const everywhere = async (proxy: Target, expected: string): Promise<void> => {
      const acknowledgedAt = performance.now();
      for (const gateway of stack.gateways) {
        const seen = await wentTo(gateway, proxy);
        if (seen !== expected) misses.push(`${seen} instead of ${expected}`);
      }
      tookMs.push(performance.now() - acknowledgedAt);
    };
    for (let round = 0; round < 100; round += 1) {
      const proxy = await newProxy(`made-${round}`);
      expect((await change(proxy, `changed-${round}`)).status).toBe(204);
      await everywhere(proxy, `/changed-${round}`);
      expect((await remove(proxy)).status).toBe(204);
      await everywhere(proxy, '404');
    }
    expect(misses).toEqual([]);
    tookMs.sort((one, other) => one - other);
    const at = (share: number): string =>
      (tookMs[Math.ceil(tookMs.length * share) - 1] ?? 0).toFixed(1);
    process.stdout.write(
      `acknowledged to seen on three gateways: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms\n`,
    );
  });
});

describe('calls go on, and changes are in force after a second, while Redis', () => {
  it('is killed, for 60 s, and comes back empty', async () => {
    const result = await callsDuring(async () => {
      await stack.redis.kill();
      await delay(awayMs);
    });
    expectSuccess(result);
    expectSuccess(
      await callsDuring(async () => {
        await stack.redis.start();
        await delay(2_000);
      }),
    );
  });

  it('is away', async () => {
    await stack.redis.kill();
    await expectInForce('without-redis');
    await stack.redis.start();
    await expectInForce('with-empty-redis');
  });

  it('is emptied again and again', async () => {
    const result = await callsDuring(async () => {
      for (let round = 0; round < 20; round += 1) {
        await stack.redis.flush();
        await delay(round * 20);
      }
    });
    expectSuccess(result);
    await expectInForce('after-flushes');
  });

  it('is half-open: connections stay, and no byte passes', async () => {
    const result = await callsDuring(async () => {
      stack.toRedis.stall();
      await delay(1_000);
      expect((await change(target, 'half-open')).status).toBe(204);
      await delay(4_000);
    });
    expectSuccess(result);
    expect(await wentTo(front, target)).toBe('/half-open');
    await stack.toRedis.restore();
    await expectInForce('open-again');
  });
});

describe('while Postgres', () => {
  it('is away for 60 s, plain calls go on, and calls that need it get 503, never 202', async () => {
    const refused: Answer[] = [];
    const result = await callsDuring(async () => {
      await stack.postgres.cut();
      try {
        const end = performance.now() + awayMs;
        while (performance.now() < end) {
          for (const gateway of stack.gateways) {
            const react = { key: privateKey, body: { args: {}, callback_url: receiver.url } };
            refused.push(
              await invoke(gateway, target, { a: `{{${tokenId}}}` }),
              await call('POST', `${gateway}/reactors/${reactorId}/react`, react),
              await call('GET', `${gateway}/proxies/${target.id}`, { key: adminKey }),
            );
          }
          refused.push(await change(target, 'never'), await remove(target));
          await delay(200);
        }
      } finally {
        await stack.postgres.restore();
      }
    });
    expectSuccess(result);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    expect(refused.filter(({ headers }) => !headers.has('retry-after'))).toEqual([]);
    await until(async () => (await change(target, 'back')).status === 204);
    await expectInForce('back-again');
  }, 150_000);

  it('hangs, calls get 503 with Retry-After after a second, as changes are not known', async () => {
    stack.postgres.stall();
    for (const gateway of stack.gateways) {
      await until(async () => (await invoke(gateway, target)).status === 503, 15_000);
      expect((await invoke(gateway, target)).headers.get('retry-after')).toBe('1');
    }
    await stack.postgres.restore();
    await until(async () => (await invoke(front, target)).status === 200, 15_000);
    await until(async () => (await change(target, 'awake')).status === 204, 15_000);
  });
});

describe('a random history of faults', () => {
  it('no call succeeds a second after its refusal was acknowledged, whatever breaks', async () => {
    interface Life extends Target {
      removedAt: number;
    }
    const alive: Life[] = [];
    const dead: Life[] = [];
    const violations: string[] = [];
    let [over, checked] = [false, 0];
    const keepChanging = async (): Promise<void> => {
      while (!over) {
        const made = await newProxy('life').catch(() => undefined);
        if (made) alive.push({ ...made, removedAt: Infinity });
        if (alive.length <= 3) continue;
        const [next] = alive.splice(Math.floor(Math.random() * alive.length), 1);
        if (!next) continue;
        const { status } = await remove(next);
        if (status === 204) next.removedAt = performance.now();
        dead.push(next);
      }
    };
    const keepCalling = async (gateway: string): Promise<void> => {
      while (!over) {
        const all = [...alive, ...dead.slice(-5)];
        const life = all[Math.floor(Math.random() * all.length)];
        await delay(5);
        if (!life) continue;
        const startedAt = performance.now();
        const { status } = await invoke(gateway, life);
        if (startedAt < life.removedAt + inForceAfterMs) continue;
        checked += 1;
        if (status < 400)
          violations.push(`${gateway}: ${status}, ${startedAt - life.removedAt} ms late`);
      }
    };
    const faults: (() => Promise<unknown>)[] = [
      () => stack.redis.flush(),
      async () => {
        await stack.redis.kill();
        await delay(Math.random() * 1_500);
        await stack.redis.start();
      },
      ...[stack.postgres, stack.toRedis].flatMap((line) =>
        (['cut', 'stall'] as const).map((how) => async () => {
          await line[how]();
          await delay(Math.random() * 2_500);
          await line.restore();
        }),
      ),
    ];
    const keepBreaking = async (): Promise<void> => {
      const end = performance.now() + awayMs;
      while (performance.now() < end) {
        await faults[Math.floor(Math.random() * faults.length)]?.();
        await delay(Math.random() * 1_500);
      }
      over = true;
    };
    await Promise.all([keepBreaking(), keepChanging(), ...stack.gateways.map(keepCalling)]);
    expect(violations).toEqual([]);
    expect(checked).toBeGreaterThan(100);
  }, 180_000);
});
