import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { check } from './checks.mjs';
import { startGateway } from './gateways.mjs';
import { createProxy, createTokens } from './setting.mjs';

const calls = 300;

/** P7: how often a gateway that calls Postgres through a counting relay waits for it, per call. */
export async function countRoundTrips(setting) {
  const { destination } = setting;
  const { headers } = await createProxy(setting, { destination_url: destination.url });
  const ids = await createTokens(setting, 100);
  const relay = await startRelay(new URL(setting.dev.databaseUrls.data));
  const gateway = await startGateway(setting, { env: { DATABASE_URL: relay.url } });
  try {
    const rows = [];
    for (const count of [1, 100]) {
      const perCall = await roundTripsPerCall(relay, () =>
        callWith(gateway.url, headers, ids.slice(0, count)),
      );
      const what = `round trips to Postgres of a call with tokens: ${count}`;
      rows.push(check('P7', what, perCall, ['≤', 1.1]));
    }
    return rows;
  } finally {
    await gateway.end();
    relay.close();
  }
}

async function roundTripsPerCall(relay, call) {
  await call();
  const [before, begunAt] = [relay.roundTrips, performance.now()];
  for (let i = 0; i < calls; i += 1) await call();
  const [after, endedAt] = [relay.roundTrips, performance.now()];
  await sleep(endedAt - begunAt);
  const idle = relay.roundTrips - after;
  return Math.max(0, after - before - idle) / calls;
}

async function callWith(url, headers, ids) {
  const answer = await fetch(`${url}/proxy`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(ids.map((id) => `{{ ${id} }}`)),
  });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`a call got ${answer.status}`);
}

/** A round trip begins with bytes for the server after bytes from the server, on one connection. */
async function startRelay(target) {
  const sockets = new Set();
  const relay = { roundTrips: 0 };
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
  url.port = String(server.address().port);
  relay.url = url.href;
  relay.close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return relay;
}
