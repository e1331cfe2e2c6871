import { randomBytes, randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import { sealDefinition } from './codec';
import { startStage, type Stage } from './spec-stage';
import type { ApplicationDefinition, ProxyDefinition } from './definition';

const count = 100_000;
const bytesEachMax = 1_500;
/** A few tens on an idle machine. Processor time, which other processes do not lengthen. */
const blockedMsMax = 300;
const withinMs = 120_000;

let stage: Stage;
let admin: Database;

beforeAll(async () => {
  stage = await startStage();
  admin = connectDatabase({
    url: stage.database.adminUrl,
    app: 'spec',
    connectionsMax: 1,
    statementTimeoutMs: 60_000,
  });
});

afterAll(async () => {
  await admin.close();
  await stage.close();
});

const application = (): ApplicationDefinition => ({
  kind: 'application',
  id: randomUUID(),
  tenantId: stage.tenantId,
  type: 'private',
  permissions: ['token:use', 'token:read'],
  rules: [],
  expiresAt: null,
  allowedOrigins: [],
  keys: [{ id: randomUUID(), hash: randomUUID() + randomUUID() }],
});

const proxy = (): ProxyDefinition => ({
  kind: 'proxy',
  id: randomUUID(),
  tenantId: stage.tenantId,
  keyHash: randomUUID() + randomUUID(),
  destinationUrl: `https://example.com/${randomUUID()}`,
  requireAuth: true,
  detokenize: true,
  requestTransform: null,
  responseTransform: null,
  requestSteps: [],
  responseSteps: [],
  applicationId: randomUUID(),
  configuration: {},
  isolation: 'warm',
  timeoutMs: null,
  tls: null,
  allowedOrigins: [],
  match: null,
  forwardTo: null,
});

async function fill(): Promise<void> {
  const perStatement = 5_000;
  for (let from = 0; from < count; from += perStatement) {
    const entries = Array.from({ length: perStatement }, (_, n) =>
      n % 2 ? proxy() : application(),
    );
    await admin.query(
      `WITH head AS (UPDATE definition_head SET version = version + $1 RETURNING version - $1 AS base)
       INSERT INTO definition_log (version, kind, id, tenant_id, payload)
       SELECT base + place, kind, id, $2, payload
       FROM head, unnest($3::text[], $4::uuid[], $5::bytea[]) WITH ORDINALITY AS e (kind, id, payload, place)`,
      [
        perStatement,
        stage.tenantId,
        entries.map(({ kind }) => kind),
        entries.map(({ id }) => id),
        entries.map((entry) => sealDefinition(stage.ring, stage.ring.newestVersion, entry)),
      ],
    );
  }
}

/** The most that was done in one turn of the event loop. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const spent = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  let [last, longest, over] = [spent(), 0, false];
  const turn = (): void => {
    const now = spent();
    longest = Math.max(longest, now - last);
    last = now;
    if (!over) setImmediate(turn);
  };
  turn();
  await work().finally(() => (over = true));
  return longest;
}

const heap = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
};

it('100,000 definitions at once come to an end, let others work, and take 1.5 KB each', async () => {
  await fill();
  const before = heap();
  const gateway = stage.connect();
  const api = stage.connect({ writes: true });
  const took: Record<string, number> = {};
  const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const begun = performance.now();
    took[`${name}, blocked`] = await longestTurn(work);
    took[name] = performance.now() - begun;
  };
  await measure('start', () => gateway.start());
  took.bytesEach = (heap() - before) / count;
  await measure('start from Redis', () => api.start());
  expect(api.follower.taken).toEqual({ redis: count, postgres: 0 });
  await admin.query(
    `WITH head AS (UPDATE definition_head SET version = version + $1 RETURNING version)
     UPDATE definition_log SET version = definition_log.version + $1`,
    [count],
  );
  const [head] = await admin.query<{ version: string }>('SELECT version FROM definition_head');
  await measure('change all', () =>
    waitFor(
      () => gateway.follower.fresh() && gateway.follower.head?.version === Number(head?.version),
      { timeoutMs: withinMs },
    ),
  );
  process.stdout.write(
    `${JSON.stringify(took, (_, value) => (typeof value === 'number' ? Math.round(value) : value))}\n`,
  );
  expect(took.bytesEach).toBeLessThan(bytesEachMax);
  for (const name of ['start', 'start from Redis', 'change all']) {
    expect(took[`${name}, blocked`]).toBeLessThan(blockedMsMax);
  }
}, 480_000);

it('300 definitions of 1 MiB, from a release without a limit, are loaded from both stores', async () => {
  const other = await startStage();
  try {
    const large = randomBytes(512 * 1024).toString('hex');
    const ids = Array.from({ length: 300 }, () => randomUUID());
    for (const id of ids) await other.write(other.reactor(id, { large }));
    const api = other.connect({ writes: true });
    await api.start();
    const gateway = other.connect();
    await gateway.start();
    expect(gateway.follower.taken).toEqual({ redis: ids.length, postgres: 0 });
    const definitions = await gateway.follower.current();
    const found = ids.filter((id) => definitions.find('reactor', other.tenantId, id));
    expect(found).toHaveLength(ids.length);
  } finally {
    await other.close();
  }
}, 240_000);
