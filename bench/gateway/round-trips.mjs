import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { check } from '../lib/checks.mjs';
import { startGateway } from './gateways.mjs';
import { createProxy, createTokens } from './setting.mjs';

const calls = 500;
/** The number of the gateway's own queries differs by one or two from window to window. */
const negligible = 0.01;

/**
 * P6: a warm call without tokens does not query Redis.
 *
 * @param {import('../types.js').Setting} setting
 */
export function countRedis(setting) {
  const upstream = { env: 'REDIS_URL', url: setting.dev.redisUrl };
  return withRelay(setting, upstream, async (perCall) => [
    check('P6', 'round trips to Redis of a warm call', await perCall([]), ['≤', negligible]),
  ]);
}

/**
 * P7: a call queries Postgres once, however many tokens it has.
 *
 * @param {import('../types.js').Setting} setting
 */
export async function countPostgres(setting) {
  const upstream = { env: 'DATABASE_URL', url: setting.dev.databaseUrls.data };
  const ids = await createTokens(setting, 100);
  return withRelay(setting, upstream, async (perCall) => {
    const rows = [];
    for (const count of [1, 100]) {
      const what = `round trips to Postgres of a call with tokens: ${count}`;
      rows.push(check('P7', what, await perCall(ids.slice(0, count)), ['≤', 1.1]));
    }
    return rows;
  });
}

/**
 * Starts a gateway that reaches one of its stores through a counting relay.
 *
 * @param {import('../types.js').Setting} setting
 * @param {{ env: string, url: string }} upstream
 * @param {(perCall: (ids: readonly string[]) => Promise<number>) => Promise<import('../types.js').Check[]>} work
 */
async function withRelay(setting, { env, url }, work) {
  const { headers } = await createProxy(setting, { destination_url: setting.destination.url });
  const relay = await startRelay(new URL(url));
  const gateway = await startGateway(setting, { env: { [env]: relay.url } });
  try {
    return await work((ids) => roundTripsPerCall(relay, () => callWith(gateway.url, headers, ids)));
  } finally {
    await gateway.end();
    relay.close();
  }
}

/**
 * @param {{ roundTrips: number }} relay
 * @param {() => Promise<void>} call
 */
async function roundTripsPerCall(relay, call) {
  await call();
  const [before, begunAt] = [relay.roundTrips, performance.now()];
  for (let i = 0; i < calls; i += 1) await call();
  const [after, endedAt] = [relay.roundTrips, performance.now()];
  await sleep(endedAt - begunAt);
  const idle = relay.roundTrips - after;
  if (relay.roundTrips === 0) throw new Error('The gateway does not use the relay');
  return Math.max(0, after - before - idle) / calls;
}

/**
 * @param {string} url
 * @param {import('../types.js').Headers} headers
 * @param {readonly string[]} ids
 */
async function callWith(url, headers, ids) {
  const answer = await fetch(`${url}/proxy`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(ids.map((id) => `{{ ${id} }}`)),
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
