import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { check } from '../lib/checks.mjs';
import { startGateway } from './gateways.mjs';
import { createProxy, createTokens } from './setting.mjs';

const calls = 500;
/** The number of the gateway's own queries differs by one or two from window to window. */
export const negligible = 0.01;

/**
 * P6: a warm call without tokens does not query Redis.
 *
 * @param {import('../types.js').Setting} setting
 */
export async function countRedis(setting) {
  const call = await proxyCall(setting);
  const upstream = { env: 'REDIS_URL', url: setting.dev.redisUrl };
  return withRelay(setting, upstream, async (count, url) => {
    const { perCall } = await count(() => call(url, []));
    return [check('P6', 'round trips to Redis of a warm call', perCall, ['≤', negligible])];
  });
}

/**
 * P7: a call queries Postgres once, however many tokens it has.
 *
 * @param {import('../types.js').Setting} setting
 */
export async function countPostgres(setting) {
  const call = await proxyCall(setting);
  const upstream = { env: 'DATABASE_URL', url: setting.dev.databaseUrls.data };
  const ids = await createTokens(setting, 100);
  return withRelay(setting, upstream, async (count, url) => {
    const rows = [];
    for (const tokens of [1, 100]) {
      const what = `round trips to Postgres of a call with tokens: ${tokens}`;
      const { perCall } = await count(() => call(url, ids.slice(0, tokens)));
      rows.push(check('P7', what, perCall, ['≤', 1.1]));
    }
    return rows;
  });
}

/**
 * Starts a gateway that reaches one of its stores through a counting relay.
 *
 * @template Result
 * @param {Pick<import('../types.js').Setting, 'dev' | 'children'>} setting
 * @param {{ env: string, url: string, others?: Readonly<Record<string, string>> }} upstream
 * @param {(count: (call: () => Promise<void>) => ReturnType<typeof countWhile>, url: string) => Promise<Result>} work
 */
export async function withRelay(setting, { env, url, others = {} }, work) {
  const relay = await startRelay(new URL(url));
  const gateway = await startGateway(setting, { env: { ...others, [env]: relay.url } });
  try {
    return await work((call) => countWhile(relay, call), gateway.url);
  } finally {
    await gateway.end();
    relay.close();
  }
}

/**
 * Counts the round trips that calls cost above those of as long a time without calls.
 *
 * @param {{ roundTrips: number }} relay
 * @param {() => Promise<void>} call
 */
async function countWhile(relay, call) {
  await call();
  const [before, begunAt] = [relay.roundTrips, performance.now()];
  for (let i = 0; i < calls; i += 1) await call();
  const [after, endedAt] = [relay.roundTrips, performance.now()];
  await sleep(endedAt - begunAt);
  const idle = relay.roundTrips - after;
  if (relay.roundTrips === 0) throw new Error('The gateway does not use the relay');
  const roundTrips = Math.max(0, after - before - idle);
  return { perCall: roundTrips / calls, perSecond: (roundTrips * 1_000) / (endedAt - begunAt) };
}

/**
 * A call of a proxy whose body has these tokens.
 *
 * @param {import('../types.js').Setting} setting
 */
async function proxyCall(setting) {
  const { headers } = await createProxy(setting, { destination_url: setting.destination.url });
  return (/** @type {string} */ url, /** @type {readonly string[]} */ ids) =>
    post(`${url}/proxy`, headers, JSON.stringify(ids.map((id) => `{{ ${id} }}`)));
}

/**
 * @param {string} url
 * @param {import('../types.js').Headers} headers
 * @param {string} body
 */
export async function post(url, headers, body) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body,
  });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`a call got ${answer.status}`);
}

/**
 * A round trip begins with bytes for the server after bytes from the server, on one connection.
 *
 * @param {URL} target
 */
async function startRelay(target) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  const relay = {
    roundTrips: 0,
    url: '',
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let answered = true;
    client.on('data', () => {
      if (answered) relay.roundTrips += 1;
      answered = false;
    });
    upstream.on('data', () => (answered = true));
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  url.port = String(port);
  relay.url = url.href;
  return relay;
}
