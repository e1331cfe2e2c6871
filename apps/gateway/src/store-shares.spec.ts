import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from './spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let key: string;
let proxyKey: string;
let tokenId: string;

beforeAll(async () => {
  gateway = await startSpecGateway({ RUNS_PENDING_MAX: '3', DATABASE_CONNECTIONS: '8' });
  destination = await startDestination();
  key = await gateway.application(['token:use']);
  proxyKey = await gateway.proxy(destination.url);
  tokenId = await gateway.token('value');
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

/** Makes a call that has to open a token. */
const proxied = (): Promise<Response> =>
  fetch(`${gateway.url}/proxy`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, 'Content-Type': 'text/plain' },
    body: `{{ ${tokenId} }}`,
  });

/** Keeps this many statements of a tenant under way or waiting, like its calls would. */
function occupy(tenantId: string, statements: number): () => Promise<void> {
  const { database } = gateway.ctx;
  let goesOn = true;
  const all = Array.from({ length: statements }, async () => {
    while (goesOn) {
      const asked = database.shareOf(tenantId).query('SELECT pg_sleep(0.5)');
      // Refusals come at once, and would leave the process no time for anything else.
      await asked.catch(() => setImmediate());
    }
  });
  return async () => {
    goesOn = false;
    await Promise.all(all);
  };
}

/** The longest time among all calls but one in fifty. None may fail. */
async function nearlyAll(): Promise<number> {
  const durations: number[] = [];
  for (let nth = 0; nth < 50; nth += 1) {
    const begun = performance.now();
    const answer = await proxied();
    expect(answer.status).toBe(200);
    await answer.text();
    durations.push(performance.now() - begun);
  }
  return durations.sort((a, b) => a - b)[48] ?? Infinity;
}

describe('connections to Postgres', () => {
  it('are left for the calls of a tenant while another tenant keeps 200 statements under way', async () => {
    const quiet = await nearlyAll();
    const attacker = randomUUID();
    const end = occupy(attacker, 200);
    await waitFor(() => gateway.ctx.database.shares.heldBy(attacker) === 4);
    const beside = await nearlyAll();
    await end();
    expect(beside).toBeLessThan(Math.max(5 * quiet, 250));
  });

  it('are refused with 429 to a tenant that has 200 statements waiting already', async () => {
    const end = occupy(gateway.tenantId, 210);
    const { shares } = gateway.ctx.database;
    await waitFor(() => shares.state.waiting >= 200);
    const answer = await proxied();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await answer.json()).toMatchObject({ proxy_error: { code: 'share_exhausted' } });
    await end();
  });
});

it('async runs are accepted as long as few runs and webhooks of the tenant wait', async () => {
  const { database } = gateway.ctx;
  const reactorId = await gateway.reactor();
  const accept = async (): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(`${gateway.url}/reactors/${reactorId}/react`, {
      method: 'POST',
      headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ args: {}, callback_url: `${destination.url}/hook` }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const statuses = [await accept(), await accept(), await accept()].map(({ status }) => status);
  expect(statuses).toEqual([202, 202, 202]);
  expect(await accept()).toMatchObject({ status: 429, body: { code: 'share_exhausted' } });

  // In the worker's place: a run has ended, and its webhook has not been delivered.
  await database.query(
    `WITH ended AS (DELETE FROM reactor_runs RETURNING id, tenant_id)
     INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, body, status,
       next_attempt_at, created_at)
     SELECT id, tenant_id, id, '', '', '', 'pending', now(), now() FROM ended`,
  );
  expect((await accept()).status).toBe(429);
  await database.query('DELETE FROM webhook_deliveries');
  expect((await accept()).status).toBe(202);
});
