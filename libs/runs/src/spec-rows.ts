import { randomBytes, randomUUID } from 'node:crypto';
import { connectDatabase, dataKeyTable } from '@glovebox/database';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createTestDatabase } from '@glovebox/testing';
import { webhookPlace } from './delivery-queue';
import { claimRuns, insertRun, openRun, type ClaimedRun, type OpenedRun } from './run-queue';

/** A row of a run that waits or has ended, as far as specs look at it. */
interface RunState {
  readonly status: string;
  readonly fence: number;
  readonly faults: number;
  readonly isStarted: boolean;
  readonly isLeased: boolean;
  readonly dueInMs: number;
  readonly outcome: string | null;
}

/** The tables of runs and webhooks, and the runs of a tenant in them. */
export async function startSpecRows() {
  const testDatabase = await createTestDatabase();
  const connect = (url: string) =>
    connectDatabase({ url, app: 'spec', connectionsMax: 10, readsQueues: true });
  const database = connect(testDatabase.dataUrl);
  /** The superuser's connections. */
  const admin = connect(testDatabase.adminUrl);
  const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
  const sealer = new Sealer(ring, dataKeyTable(database));
  const [tenantId, reactorId, actorId] = [randomUUID(), randomUUID(), randomUUID()];

  const accept = (args: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const callbackUrl = 'https://receiver.example/hook';
    const run = { tenantId, reactorId, actorId, args, callbackUrl };
    return insertRun(database, sealer, { ...run, timeoutMs: 10_000, traceId: 'trace' }, 1_000);
  };
  const claim = async (): Promise<ClaimedRun> => {
    const [claimed] = await claimRuns(database, tenantId, 1);
    if (!claimed) throw new Error('no run is due');
    return claimed;
  };

  return {
    database,
    admin,
    sealer,
    tenantId,
    reactorId,
    actorId,
    accept,
    claim,

    async claimNew(args?: Readonly<Record<string, unknown>>): Promise<ClaimedRun> {
      await accept(args);
      return claim();
    },

    async openNew(): Promise<OpenedRun> {
      await accept();
      return openRun(database, sealer, await claim());
    },

    async row(id: string): Promise<RunState> {
      const [row] = await admin.query<RunState>(
        `SELECT status, fence::int, faults, started_at IS NOT NULL AS "isStarted",
           lease_until IS NOT NULL AS "isLeased",
           extract(epoch FROM due_at - now())::float8 * 1000 AS "dueInMs", NULL AS outcome
         FROM reactor_runs WHERE id = $1
         UNION ALL
         SELECT status, attempt, 0, true, false, 0, outcome FROM ended_runs WHERE id = $1`,
        [id],
      );
      if (!row) throw new Error('the run has no row');
      return row;
    },

    /** Changes columns of a run in place of time, or of another worker. */
    async set(id: string, columns: string): Promise<void> {
      await database.query(`UPDATE reactor_runs SET ${columns} WHERE id = $1`, [id]);
    },

    /** The opened bodies of the webhooks of a run. */
    async webhooks(runId: string): Promise<unknown[]> {
      const rows = await database.query<{ id: string; body: Buffer }>(
        'SELECT id, body FROM webhook_deliveries WHERE run_id = $1',
        [runId],
      );
      const opened = rows.map(({ id, body }) =>
        sealer.open(webhookPlace(tenantId, id, 'body'), body),
      );
      return (await Promise.all(opened)).map(
        (body) => JSON.parse(body.toString('utf8')) as unknown,
      );
    },

    async empty(): Promise<void> {
      await admin.query(`TRUNCATE reactor_runs, webhook_deliveries, ended_runs, ended_deliveries,
        failing_webhook_paths`);
    },

    async close(): Promise<void> {
      await Promise.all([database.close(), admin.close()]);
      await testDatabase.drop();
    },
  };
}

export type SpecRows = Awaited<ReturnType<typeof startSpecRows>>;
