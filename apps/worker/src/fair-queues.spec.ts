import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { dataKeyTable } from '@glovebox/database';
import {
  claimDelivery,
  claimRuns,
  claimStepsMax,
  faultsMax,
  insertRun,
  markStarted,
  openRun,
  receiverDeliveriesMax,
  remindOfRuns,
  renewRun,
  retryPlacesMax,
  runQueue,
  takeBackSilentRuns,
} from '@glovebox/runs';
import type { RunOutcome, RunRequest } from '@glovebox/sandbox';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createRegistry } from '@glovebox/service-host';
import { fastest, waitFor } from '@glovebox/testing';
import { startConsumer } from './consumer';
import type { WorkerContext } from './context';
import { explaining } from './spec-plans';
import { startSpecWorker, type SpecWorker } from './spec-worker';
import { queueOfDeliveries, queueOfRuns, startWorker } from './worker';

interface Tenant {
  readonly id: string;
  readonly reactorId: string;
  readonly actorId: string;
}

let spec: SpecWorker;
let a: Tenant;
let b: Tenant;
let queue: Queue;
let queueRedis: Redis;
let receiver: Receiver;
/** The runner's part: it gets the run and returns its outcome. */
let runCode: (request: RunRequest) => Promise<RunOutcome>;
let ctx: WorkerContext;

const returned: RunOutcome = { kind: 'returned', value: { raw: {} } };

interface Receiver {
  /** The path and the time of each webhook that arrived. */
  readonly came: { readonly path: string; readonly at: number }[];
  readonly port: number;
  close(): void;
}

/**
 * Listens on two loopback addresses, a host each. Refuses the first webhook to a path that begins
 * with `bad`, and does with the others what the path ends with.
 */
async function startReceiver(): Promise<Receiver> {
  const came: Receiver['came'] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    came.push({ path, at: performance.now() });
    request.resume();
    const isFirst = came.filter((other) => other.path === path).length === 1;
    if (isFirst && path.startsWith('/bad')) response.writeHead(500).end();
    else if (path.endsWith('drips')) {
      const timer = setInterval(() => response.write('.'), 50);
      response.on('close', () => clearInterval(timer));
    } else if (path.endsWith('resets')) request.socket.resetAndDestroy();
    else if (path.endsWith('redirects')) response.writeHead(302, { location: '/' }).end();
    else if (!path.endsWith('hangs')) response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const more = createServer((request, response) => server.emit('request', request, response));
  more.listen(port, '127.0.0.2');
  await once(more, 'listening');
  return {
    came,
    port,
    close() {
      for (const one of [server, more]) {
        one.close();
        one.closeAllConnections();
      }
    },
  };
}

beforeAll(async () => {
  spec = await startSpecWorker({
    RUN_CONCURRENCY: '4',
    DELIVERY_CONCURRENCY: '40',
    EGRESS_ALLOW: '127.0.0.0/8:*',
    LOG_LEVEL: 'silent',
  });
  [a, b] = [await tenant(), await tenant()];
  queueRedis = new Redis(spec.redis.url);
  queue = new Queue(runQueue.name, {
    connection: queueRedis,
    prefix: runQueue.prefix,
    defaultJobOptions: runQueue.options,
  });
});
afterAll(async () => {
  await queue.close();
  queueRedis.disconnect();
  await spec.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
  runCode = () => Promise.resolve(returned);
  const runner = { ...spec.ctx.runner, run: (request: RunRequest) => runCode(request) };
  ctx = { ...spec.ctx, runner, registry: createRegistry('worker') };
  await ctx.database.query('DELETE FROM reactor_runs');
  await ctx.database.query('DELETE FROM webhook_deliveries');
  await spec.admin.query('TRUNCATE ended_runs, failing_webhook_paths');
});
afterEach(() => {
  receiver.close();
});

async function tenant(): Promise<Tenant> {
  const [tenantId, actorId, reactorId, formulaId] = Array.from({ length: 4 }, () => randomUUID());
  if (!tenantId || !actorId || !reactorId || !formulaId) throw new Error('unreachable');
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await spec.define({
    kind: 'tenant',
    id: tenantId,
    tenantId,
    settings: {},
    webhookSecrets: [{ secret, until: null }],
  });
  await spec.define({
    kind: 'application',
    id: actorId,
    tenantId,
    type: 'private',
    permissions: ['token:use'],
    rules: [],
    expiresAt: null,
    allowedOrigins: [],
    keys: [{ id: randomUUID(), hash: actorId }],
  });
  await spec.define({
    kind: 'formula',
    id: formulaId,
    tenantId,
    code: '',
    codeHash: '',
    runtime: 'node20',
    requestParameters: [],
  });
  await spec.define({
    kind: 'reactor',
    id: reactorId,
    tenantId,
    formulaId,
    applicationId: null,
    configuration: {},
    isolation: 'warm',
  });
  return { id: tenantId, reactorId, actorId };
}

/** Accepts a run as the gateway does before its 202. */
function accept(of: Tenant, path = '/', host = '127.0.0.1'): Promise<string> {
  return insertRun(
    ctx.database,
    ctx.sealer,
    {
      tenantId: of.id,
      reactorId: of.reactorId,
      actorId: of.actorId,
      args: {},
      callbackUrl: `http://${host}:${receiver.port}${path}`,
      timeoutMs: 10_000,
      traceId: 'trace',
    },
    1_000_000,
  );
}

/** Inserts many due runs that are never opened. */
const crowd = (of: Tenant, count: number): Promise<unknown> =>
  ctx.database.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, due_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'pending', '', '', 10000, 'trace', now(),
       now() - interval '1 minute' + nth * interval '1 millisecond'
     FROM generate_series(1, $4) nth`,
    [of.id, of.reactorId, of.actorId, count],
  );

/** The runs that wait or have ended, counted by status. */
const statesOfRuns = async (): Promise<Record<string, number>> => {
  const rows = await spec.admin.query<{ status: string; count: number }>(
    `SELECT status, count(*)::int FROM (
       SELECT status FROM reactor_runs UNION ALL SELECT status FROM ended_runs) r GROUP BY status`,
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};

/** Runs that hang until `end`, counted by tenant. */
function hangingRuns() {
  const underWay: Record<string, number> = {};
  const end = new AbortController();
  const ended = once(end.signal, 'abort');
  runCode = async ({ tenantId }) => {
    underWay[tenantId] = (underWay[tenantId] ?? 0) + 1;
    await ended;
    return returned;
  };
  return { underWay, end: () => end.abort() };
}

describe('a worker with two tenants', () => {
  it('starts a run within a second although 20,000 runs of another tenant are due before it', async () => {
    await Promise.all([accept(a), accept(a)]);
    await ctx.database.query(`UPDATE reactor_runs SET due_at = now() - interval '1 hour'`);
    await crowd(a, 20_000);
    const hanging = hangingRuns();
    const hang = runCode;
    const startedAt: number[] = [];
    runCode = async (request) => {
      if (request.tenantId === a.id) return hang(request);
      startedAt.push(performance.now());
      return returned;
    };
    const worker = await startWorker(ctx);
    await waitFor(() => hanging.underWay[a.id] === 2);

    let accepted = 0;
    const startMs = async (): Promise<number> => {
      const acceptedAt = performance.now();
      await accept(b);
      accepted += 1;
      await remindOfRuns(queue, b.id);
      await waitFor(() => startedAt.length === accepted);
      return (startedAt.at(-1) ?? Infinity) - acceptedAt;
    };
    expect(await fastest(1_000, startMs)).toBeLessThan(1_000);
    expect(hanging.underWay).toEqual({ [a.id]: 2 });
    const stopped = worker.stop();
    hanging.end();
    await stopped;
  });

  it('sends a webhook within a second although 100 of another tenant hang', async () => {
    for (let nth = 0; nth < 50; nth += 1) {
      await Promise.all([accept(a, '/a-hangs'), accept(a, '/a-hangs', '127.0.0.2')]);
    }
    const worker = await startWorker(ctx);
    const hanging = (): number => receiver.came.filter(({ path }) => path === '/a-hangs').length;
    await waitFor(() => hanging() === 2 * receiverDeliveriesMax);
    await waitFor(async () => (await statesOfRuns()).completed === 100);

    const deliveryMs = async (): Promise<number> => {
      const path = `/b-${randomUUID()}`;
      const acceptedAt = performance.now();
      await accept(b, path);
      await remindOfRuns(queue, b.id);
      const delivered = await waitFor(() => receiver.came.find((one) => one.path === path));
      return (delivered?.at ?? Infinity) - acceptedAt;
    };
    expect(await fastest(1_000, deliveryMs)).toBeLessThan(1_000);
    receiver.close();
    await worker.stop();
  });

  it("keeps a receiver that hangs from holding up the tenant's other webhooks", async () => {
    for (let nth = 0; nth < 50; nth += 1) await accept(a, '/hangs', '127.0.0.2');
    await accept(a, '/answers');
    const worker = await startWorker(ctx);
    const came = (path: string): number =>
      receiver.came.filter((request) => request.path === path).length;
    await waitFor(() => came('/answers') === 1 && came('/hangs') === receiverDeliveriesMax);
    receiver.close();
    await worker.stop();
  });
});

describe('a host with a path that fails', () => {
  const held = async (): Promise<number> =>
    (await ctx.database.query('SELECT 1 FROM webhook_deliveries WHERE place IS NOT NULL')).length;

  it.each(['hangs', 'drips', 'resets', 'redirects'])(
    'gets a webhook to another path at once while that path %s',
    async (kind) => {
      const bad = `/bad-${kind}`;
      const [worker] = [await startWorker(ctx), await accept(a, bad)];
      await remindOfRuns(queue, a.id);
      const failed = () => ctx.database.query('SELECT 1 FROM failing_webhook_paths');
      await waitFor(async () => (await failed()).length === 1);
      for (let nth = 0; nth < 40; nth += 1) await accept(a, bad);
      // The failed one is due again, and comes before the others of its time.
      await ctx.database.query('UPDATE webhook_deliveries SET next_attempt_at = created_at');
      await remindOfRuns(queue, a.id);
      await waitFor(() => receiver.came.length > retryPlacesMax);
      await accept(a, '/good');
      await remindOfRuns(queue, a.id);
      const came = await waitFor(() => receiver.came.find(({ path }) => path === '/good'));
      expect(came).toBeDefined();
      const underWay = await held();
      expect(underWay).toBeLessThanOrEqual(retryPlacesMax + 1);
      if (kind === 'hangs' || kind === 'drips') {
        expect(underWay).toBeGreaterThanOrEqual(retryPlacesMax);
        expect(receiver.came.filter(({ path }) => path === bad)).toHaveLength(1 + retryPlacesMax);
      }
      receiver.close();
      await worker.stop();
    },
  );
});

describe('a queue of runs', () => {
  it('finds every run although most reminders are ignored, and without a sweep', async () => {
    const runs = queueOfRuns(ctx, { wake: () => undefined });
    const consumer = await startConsumer(ctx, runs);
    const acceptOne = async (): Promise<void> => {
      await accept(a);
      await remindOfRuns(queue, a.id);
    };
    for (let nth = 0; nth < 20; nth += 1) await Promise.all(Array.from({ length: 5 }, acceptOne));
    await waitFor(async () => (await statesOfRuns()).completed === 100, {
      timeoutMs: 10_000,
    });
    expect(await queue.count()).toBe(0);
    await consumer.stop();
    await runs.stop();
  });

  it('looks for a tenant once its reminder has left Redis, so that a further reminder is not ignored', async () => {
    const left: boolean[] = [];
    const wake = (tenantId: string): void => {
      void queue.getJob(tenantId).then((job) => left.push(job === undefined));
    };
    const consumer = await startConsumer(ctx, { wake });
    for (let nth = 0; nth < 20; nth += 1) {
      await remindOfRuns(queue, randomUUID());
      await waitFor(() => left.length === nth + 1);
    }
    expect(left).not.toContain(false);
    await consumer.stop();
  });

  it('executes a run once although two workers are reminded of it again and again', async () => {
    let started = 0;
    runCode = () => {
      started += 1;
      return Promise.resolve(returned);
    };
    const queues = [0, 1].map(() => queueOfRuns(ctx, { wake: () => undefined }));
    const consumers = await Promise.all(queues.map((one) => startConsumer(ctx, one)));
    await accept(a);
    // Under ids of their own, as a job that BullMQ delivers twice has left its id.
    for (let nth = 0; nth < 50; nth += 1) await queue.add('due', { tenantId: a.id });
    await waitFor(async () => (await queue.count()) + (await queue.getActiveCount()) === 0);
    await waitFor(async () => (await statesOfRuns()).completed === 1);
    await Promise.all([...consumers, ...queues].map((one) => one.stop()));
    expect(started).toBe(1);
  });

  it('has one reminder per tenant, however many runs wait', async () => {
    await Promise.all(Array.from({ length: 100 }, () => remindOfRuns(queue, a.id)));
    expect(await queue.count()).toBe(1);
    await queue.drain();
  });

  it('claims no further run when it is told to stop, and finishes those that it has', async () => {
    for (let nth = 0; nth < 10; nth += 1) await accept(a);
    const hanging = hangingRuns();
    const runs = queueOfRuns(ctx, { wake: () => undefined });
    runs.wake(a.id);
    await waitFor(() => hanging.underWay[a.id] === 2);
    const stopped = runs.stop();
    hanging.end();
    await stopped;
    expect(await statesOfRuns()).toEqual({ completed: 2, pending: 8 });
  });

  it('leaves a tenant alone for a second when there is no capacity for its runs', async () => {
    for (let nth = 0; nth < 100; nth += 1) await accept(a);
    await accept(b);
    let refused = 0;
    runCode = ({ tenantId }) => {
      if (tenantId === b.id) return Promise.resolve(returned);
      refused += 1;
      return Promise.resolve({ kind: 'no_capacity' });
    };
    const runs = queueOfRuns(ctx, { wake: () => undefined });
    runs.wake(a.id);
    await waitFor(() => refused > 0);
    // Meanwhile every look finds the tenant paused.
    for (let nth = 0; nth < 50; nth += 1) {
      runs.wake(a.id);
      await ctx.database.query('SELECT 1');
    }
    runs.wake(b.id);
    await waitFor(async () => (await statesOfRuns()).completed === 1);
    expect(refused).toBeLessThanOrEqual(2);
    await waitFor(() => refused > 2);
    await runs.stop();
    expect((await statesOfRuns()).pending).toBe(100);
  });

  it('gives up no run while it lacks the master key, and does not retry without a pause', async () => {
    for (let nth = 0; nth < 20; nth += 1) await accept(a);
    await ctx.database.query('UPDATE reactor_runs SET faults = $1', [faultsMax]);
    const ring = parseKeyRing(`2:${randomBytes(32).toString('base64')}`);
    const sealer = new Sealer(ring, dataKeyTable(ctx.database));
    const lacking = queueOfRuns({ ...ctx, sealer }, { wake: () => undefined });
    const claims = async (): Promise<number> => {
      const [row] = await ctx.database.query<{ claims: number }>(
        'SELECT sum(fence)::int AS claims FROM reactor_runs',
      );
      return row?.claims ?? 0;
    };
    lacking.wake(a.id);
    await waitFor(async () => (await claims()) > 0 && lacking.shares.state.held === 0);
    await lacking.stop();
    expect(await claims()).toBeLessThan(10);
    expect(await statesOfRuns()).toEqual({ pending: 20 });
  });

  it('starts no run twice, however many workers look for it', async () => {
    for (let nth = 0; nth < 50; nth += 1) await accept(a);
    let started = 0;
    runCode = () => {
      started += 1;
      return Promise.resolve(returned);
    };
    const queues = Array.from({ length: 4 }, () => queueOfRuns(ctx, { wake: () => undefined }));
    for (const one of queues) one.wake(a.id);
    await waitFor(async () => (await statesOfRuns()).completed === 50);
    await Promise.all(queues.map((one) => one.stop()));
    expect(started).toBe(50);
  });
});

it('a started run of a silent worker is due again, is marked as started before, and is fenced off from that worker', async () => {
  await accept(a);
  const take = async () => {
    const [taken] = await claimRuns(ctx.database, a.id, 1);
    return taken && openRun(ctx.database, ctx.sealer, taken);
  };
  const silent = await take();
  if (!silent) throw new Error('nothing was due');
  expect(await markStarted(ctx.database, silent)).toBe(true);
  await takeBackSilentRuns(ctx.database);
  expect(await take()).toBeUndefined();
  await ctx.database.query(`UPDATE reactor_runs SET lease_until = now() - interval '1 second'`);
  await takeBackSilentRuns(ctx.database);
  expect(await renewRun(ctx.database, silent)).toBe(false);
  expect(await take()).toMatchObject({ id: silent.id, startedBefore: true, fence: 2 });
});

it('more than ten webhooks to one receiver take no place, and go on when the ten have ended', async () => {
  const deliveries = queueOfDeliveries(ctx);
  for (let nth = 0; nth < 30; nth += 1) await accept(a, '/hangs', '127.0.0.2');
  const runs = queueOfRuns(ctx, deliveries);
  runs.wake(a.id);
  await waitFor(() => receiver.came.length === receiverDeliveriesMax);
  await waitFor(async () => (await statesOfRuns()).completed === 30);
  await runs.stop();
  await waitFor(() => deliveries.shares.state.held === receiverDeliveriesMax);
  expect(deliveries.shares.state.waiting).toBe(0);
  const untried = async (): Promise<number> =>
    (await ctx.database.query('SELECT 1 FROM webhook_deliveries WHERE attempts = 0')).length;
  expect(await untried()).toBe(20);
  receiver.close();
  await waitFor(() => deliveries.shares.state.held === 0);
  await waitFor(async () => (await untried()) === 0);
  await deliveries.stop();
});

/** Inserts webhooks in parts, so that no statement meets its time limit on a busy machine. */
async function waitingWebhooks(
  count: number,
  columns: { receiver: string; due: string; path?: string; attempts?: number },
): Promise<void> {
  const { receiver, due, path = 'NULL', attempts = 0 } = columns;
  for (let from = 1; from <= count; from += 20_000) {
    await ctx.database.query(
      `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver,
         path, body, status, attempts, next_attempt_at, created_at)
       SELECT gen_random_uuid(), $1, $1, '', '', ${receiver}, ${path}, '', 'pending', ${attempts},
         ${due}, now()
       FROM generate_series($2::int, $3::int) nth`,
      [a.id, from, Math.min(count, from + 19_999)],
    );
  }
}

/** Gives Postgres the statistics of a moment in which every webhook was under way. */
async function plantStatistics(): Promise<void> {
  await waitingWebhooks(10, { receiver: `'busy'`, due: 'now()' });
  await ctx.database.query(
    `UPDATE webhook_deliveries d SET place = nth FROM
       (SELECT id, row_number() OVER () AS nth FROM webhook_deliveries) numbered
     WHERE d.id = numbered.id`,
  );
  await spec.admin.query('VACUUM ANALYZE webhook_deliveries');
  await ctx.database.query('DELETE FROM webhook_deliveries');
}

/** Gives webhooks to receivers of this name so many places of each. */
const hold = (receivers: string, places: number): Promise<unknown> =>
  ctx.database.query(
    `UPDATE webhook_deliveries d SET place = nth, next_attempt_at = now() + interval '30 seconds'
     FROM (SELECT id, row_number() OVER (PARTITION BY receiver) AS nth FROM webhook_deliveries
       WHERE receiver LIKE $1) numbered
     WHERE d.id = numbered.id AND nth <= $2::int`,
    [receivers, places],
  );

it('a webhook to a receiver that answers is found within a few hundred rows although 100,000 wait for full receivers', async () => {
  await plantStatistics();
  const overdue = `now() - interval '1 hour'`;
  await waitingWebhooks(100_000, { receiver: `'full-' || nth % 3`, due: overdue });
  await waitingWebhooks(10_000, {
    receiver: `'later-' || nth % 100`,
    due: `now() + interval '1 minute'`,
  });
  await waitingWebhooks(2, { receiver: `'answers'`, due: 'now()' });
  await hold('full-%', receiverDeliveriesMax);
  const read: number[] = [];
  const explained = explaining(ctx.database, (rows) => read.push(rows));
  expect(await claimDelivery(explained, a.id)).toMatchObject({ receiver: 'answers' });
  // From here on they are those of the table.
  await spec.admin.query('ANALYZE webhook_deliveries');
  expect(await claimDelivery(explained, a.id)).toMatchObject({ receiver: 'answers' });
  expect(await claimDelivery(explained, a.id)).toBe('full');
  await ctx.database.query(
    `UPDATE webhook_deliveries SET place = NULL WHERE receiver = 'full-0' AND place = 7`,
  );
  expect(await claimDelivery(explained, a.id)).toMatchObject({ receiver: 'full-0' });
  for (const rows of read) expect(rows).toBeLessThanOrEqual(3 * claimStepsMax);
});

it('a first attempt to a path that works is found within a few hundred rows although 20,000 wait for failing paths, and 20,000 retries', async () => {
  await plantStatistics();
  const overdue = `now() - interval '1 hour'`;
  const host = { receiver: `'host'`, due: overdue };
  await waitingWebhooks(20_000, { ...host, path: `'retried-' || nth`, attempts: 1 });
  await hold('host', retryPlacesMax);
  await waitingWebhooks(20_000, { ...host, path: `'failing-' || nth % 50` });
  await waitingWebhooks(2, { receiver: `'host'`, due: 'now()', path: `'works'` });
  await waitingWebhooks(1, { receiver: `'other'`, due: 'now()', path: `'retried'`, attempts: 1 });
  await ctx.database.query(
    `INSERT INTO failing_webhook_paths SELECT $1, 'failing-' || nth, now()
     FROM generate_series(0, 49) nth`,
    [a.id],
  );
  const read: number[] = [];
  const explained = explaining(ctx.database, (rows) => read.push(rows));
  const claimedPath = async (): Promise<unknown> => {
    const taken = await claimDelivery(explained, a.id);
    const id = typeof taken === 'object' ? taken.id : null;
    const [row] = await ctx.database.query<{ path: string }>(
      'SELECT path FROM webhook_deliveries WHERE id = $1',
      [id],
    );
    return row?.path ?? taken;
  };
  expect(await claimedPath()).toBe('works');
  await spec.admin.query('ANALYZE webhook_deliveries');
  expect(await claimedPath()).toBe('works');
  expect(await claimedPath()).toBe('retried');
  expect(await claimedPath()).toBe('full');
  await ctx.database.query(`UPDATE webhook_deliveries SET place = NULL WHERE place = 3`);
  expect(await claimedPath()).toMatch(/^failing-/);
  for (const rows of read) expect(rows).toBeLessThanOrEqual(4 * claimStepsMax);
});
