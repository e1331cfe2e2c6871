import { randomBytes, randomUUID } from 'node:crypto';
import type { ApplicationDefinition, FormulaDefinition } from '@glovebox/definitions';
import { claimRuns, insertRun, webhookPlace, type ClaimedRun } from '@glovebox/runs';
import type { SpecWorker } from './spec-worker';

/** A row of a run that waits or has ended, as far as specs look at it. */
interface RunRow {
  readonly status: string;
  readonly fence: number;
  readonly faults: number;
  readonly isStarted: boolean;
  readonly isLeased: boolean;
  readonly dueInMs: number;
  readonly outcome: string | null;
}

/** A tenant with a reactor, whose runs a spec accepts, claims and looks at. */
export async function startSpecRuns(worker: SpecWorker) {
  const { ctx } = worker;
  const tenantId = randomUUID();
  const application: ApplicationDefinition = {
    kind: 'application',
    id: randomUUID(),
    tenantId,
    type: 'private',
    permissions: ['token:use'],
    rules: [],
    expiresAt: null,
    allowedOrigins: [],
    keys: [{ id: randomUUID(), hash: randomUUID() }],
  };
  const formula: FormulaDefinition = {
    kind: 'formula',
    id: randomUUID(),
    tenantId,
    code: 'module.exports = ({ args }) => ({ raw: args })',
    codeHash: '1',
    runtime: 'node20',
    requestParameters: [],
  };
  const reactorId = randomUUID();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await worker.define({
    kind: 'tenant',
    id: tenantId,
    tenantId,
    settings: {},
    webhookSecrets: [{ secret, until: null }],
  });
  await worker.define(application);
  await worker.define(formula);
  await worker.define({
    kind: 'reactor',
    id: reactorId,
    tenantId,
    formulaId: formula.id,
    applicationId: null,
    configuration: {},
    isolation: 'warm',
  });

  const accept = (
    args: Readonly<Record<string, unknown>> = {},
    more: { readonly reactorId?: string; readonly timeoutMs?: number } = {},
  ): Promise<string> =>
    insertRun(
      ctx.database,
      ctx.sealer,
      {
        tenantId,
        reactorId,
        actorId: application.id,
        args,
        callbackUrl: 'https://receiver.example/hook',
        timeoutMs: 10_000,
        traceId: 'trace',
        ...more,
      },
      1_000,
    );
  const claim = async (): Promise<ClaimedRun> => {
    const [claimed] = await claimRuns(ctx.database, tenantId, 1);
    if (!claimed) throw new Error('no run is due');
    return claimed;
  };

  return {
    tenantId,
    application,
    formula,
    accept,
    claim,

    /** Inserts many due runs that do not open. */
    async crowd(count: number): Promise<void> {
      await ctx.database.query(
        `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments,
           callback_url, timeout_ms, trace_id, created_at, due_at)
         SELECT gen_random_uuid(), $1, $2, $3, 'pending', 'broken', 'broken', 10000, 'trace', now(),
           now() - interval '1 minute' FROM generate_series(1, $4)`,
        [tenantId, reactorId, application.id, count],
      );
    },

    async claimNew(...args: Parameters<typeof accept>): Promise<ClaimedRun> {
      await accept(...args);
      return claim();
    },

    async row(id: string): Promise<RunRow> {
      const [row] = await worker.admin.query<RunRow>(
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
      await ctx.database.query(`UPDATE reactor_runs SET ${columns} WHERE id = $1`, [id]);
    },

    /** The opened bodies of the webhooks of a run. */
    async webhooks(runId: string): Promise<unknown[]> {
      const rows = await ctx.database.query<{ id: string; body: Buffer }>(
        'SELECT id, body FROM webhook_deliveries WHERE run_id = $1',
        [runId],
      );
      const opened = rows.map(({ id: record, body }) =>
        ctx.sealer.open(webhookPlace(tenantId, record, 'body'), body),
      );
      return (await Promise.all(opened)).map(
        (body) => JSON.parse(body.toString('utf8')) as unknown,
      );
    },
  };
}

export type SpecRuns = Awaited<ReturnType<typeof startSpecRuns>>;
