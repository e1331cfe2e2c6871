import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Fleet } from './fleet';
import { startOwnProduct, type OwnProduct } from '../own-product';
import { call, create, reactorOf, type Product } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const root = join(__dirname, '../..');
const run = promisify(execFile);
const rotations = 20;
const perRestart = 5;
const keys = Array.from({ length: rotations + 1 }, () => randomBytes(32).toString('base64'));
/** The keys from one version to another, inclusive. */
const ringOf = (from: number, to: number): string =>
  keys
    .map((key, at) => `${at + 1}:${key}`)
    .slice(from - 1, to)
    .join(',');

let product: OwnProduct;
let fleet: Fleet | undefined;
let receiver: Receiver;

/** A separate product: others could no longer open what this test has sealed. */
beforeAll(async () => {
  product = await startOwnProduct({ KEY_RING: ringOf(1, 1) });
  receiver = await startReceiver();
});

afterAll(async () => {
  await fleet?.end();
  await product.stop();
  await receiver.close();
});

/** Runs the command as an operator does, in a Job. */
async function rotate(ring: string, ...args: string[]): Promise<string> {
  const main = join(root, 'dist/apps/management-api/keys-rotate.main.js');
  const { stdout } = await run(process.execPath, [main, ...args], {
    env: {
      DATABASE_URL: product.databaseUrls.rotation,
      REDIS_URL: product.redisUrl,
      KEY_RING: ring,
    },
  });
  return stdout;
}

interface Load {
  readonly calls: Readonly<Record<string, number>>;
  readonly failures: string[];
  readonly accepted: string[];
}

/** Makes calls of every kind until the work is done. */
async function underLoad(
  kinds: Readonly<Record<string, () => Promise<string | undefined>>>,
  work: () => Promise<void>,
): Promise<Load> {
  const calls: Record<string, number> = {};
  const load: Load = { calls, failures: [], accepted: [] };
  let done = false;
  const callers = Object.entries(kinds).map(async ([kind, callOnce]) => {
    for (let n = 1; !done; n += 1) {
      calls[kind] = n;
      try {
        const accepted = await callOnce();
        if (accepted !== undefined) load.accepted.push(accepted);
      } catch (error) {
        const cause = error instanceof Error && error.cause ? ` (${String(error.cause)})` : '';
        load.failures.push(`${kind}: ${String(error)}${cause}`);
      }
    }
  });
  try {
    await work();
  } finally {
    done = true;
    await Promise.all(callers);
  }
  return load;
}

/** The calls, with the answers that they must get. */
async function kindsOfCalls(
  at: Product,
): Promise<Record<string, () => Promise<string | undefined>>> {
  const { baseUrl, privateKey: key } = at;
  const { key: proxyKey } = await create(at, '/proxies', {
    name: 'rotation',
    destination_url: `${receiver.url}/proxied`,
  });
  const { id: token } = await create(at, '/tokens', { type: 'token', data: 41 }, key);
  const react = `${baseUrl}/reactors/${await reactorOf(
    at,
    'module.exports = async ({ args }) => ({ raw: { sum: args.a + 1 } });',
  )}/react`;
  const throughProxy = async (body: unknown): Promise<undefined> => {
    const headers = { 'SVC-PROXY-KEY': String(proxyKey) };
    require200(await call('POST', `${baseUrl}/proxy`, { key, headers, body }), '"received":true');
  };
  const args = { a: `{{${token}}}` };
  return {
    'proxy without expressions': () => throughProxy({ plain: true }),
    'proxy with expressions': () => throughProxy({ filled: `{{${token}}}` }),
    'sync reactor': async () => {
      require200(await call('POST', react, { key, body: { args } }), '"sum":42');
      return undefined;
    },
    'async reactor': async () => {
      const body = { args, callback_url: `${receiver.url}/hook` };
      const answer = await call('POST', react, { key, body });
      if (answer.status !== 202) throw new Error(`${answer.status} ${answer.text}`);
      return String(answer.body.async_request_id);
    },
    'management write': async () => {
      const { id } = await create(at, '/tokens', { type: 'token', data: 'written' }, key);
      require200(await call('GET', `${baseUrl}/tokens/${id}`, { key }), id);
      await create(at, '/reactor-formulas', {
        type: 'private',
        name: 'written',
        code: 'module.exports = () => ({});',
      });
      return undefined;
    },
  };
}

function require200({ status, text }: { status: number; text: string }, part: string): void {
  if (status !== 200 || !text.includes(part)) throw new Error(`${status} ${text}`);
}

/** The received bodies by run. */
function webhooks(): Map<string, string[]> {
  const byRun = new Map<string, string[]>();
  for (const { headers, body } of receiver.received) {
    if (headers['webhook-id'] === undefined) continue;
    const id = String(headers['webhook-id']).replace('msg_', '');
    byRun.set(id, [...(byRun.get(id) ?? []), body]);
  }
  return byRun;
}

async function until(condition: () => boolean, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it(`${rotations} rotations of the master key and rolling restarts of every app fail no call`, async () => {
  const running = (fleet = await Fleet.replace(product, ringOf(1, 1 + perRestart)));
  const at = { ...product, baseUrl: running.url };
  const load = await underLoad(await kindsOfCalls(at), async () => {
    for (let from = 1; from <= rotations; from += perRestart) {
      const ring = ringOf(from, from + perRestart);
      for (let to = from + 1; to <= from + perRestart; to += 1) {
        expect(await rotate(ring, '--to', String(to))).toContain(`Version ${to} seals.`);
      }
      const free = (await rotate(ring, '--status')).match(/may be taken out/g);
      expect(free).toHaveLength(perRestart);
      const next = from + perRestart;
      await running.roll(ringOf(next, Math.min(next + perRestart, keys.length)));
    }
  });
  process.stdout.write(`${JSON.stringify(load.calls)}\n`);
  expect(load.failures.slice(0, 5)).toEqual([]);
  for (const count of Object.values(load.calls)) expect(count).toBeGreaterThan(rotations);

  await until(() => load.accepted.every((id) => webhooks().has(id)), 60_000);
  const reported = webhooks();
  expect([...reported.keys()].sort()).toEqual([...load.accepted].sort());
  for (const bodies of reported.values())
    expect(new Set(bodies)).toEqual(new Set(['{"raw":{"sum":42}}']));
  const filled = receiver.received.filter(({ body }) => body.includes('filled'));
  expect(new Set(filled.map(({ body }) => body))).toEqual(new Set(['{"filled":"41"}']));

  // The last processes have only the last key, and open what the first key had to open.
  const newest = ringOf(keys.length, keys.length);
  expect((await rotate(newest, '--status')).trim().split('\n')).toHaveLength(2);
  for (const callOnce of Object.values(await kindsOfCalls(at))) await callOnce();
}, 480_000);
