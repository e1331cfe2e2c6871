import { randomUUID } from 'node:crypto';
import { connectDatabase, timeOfId, timeOrderedId, type Database } from '@glovebox/database';
import {
  insertEndedRuns,
  insertRun,
  receiverOf,
  sealTexts,
  webhookPlace,
  type RunLogEntry,
  type RunRecord,
} from '@glovebox/runs';
import type { Sight } from '@glovebox/vault';
import type { ManagementContext } from '../context';

/** The rows that gateway and worker write, for specs of the endpoints that show them. */
export class DataPlane {
  readonly database: Database;

  constructor(
    private readonly ctx: ManagementContext,
    dataUrl: string,
  ) {
    this.database = connectDatabase({ url: dataUrl, app: 'spec', connectionsMax: 2 });
  }

  /** An async run that waits. */
  accept(run: {
    tenantId: string;
    reactorId: string;
    actorId: string;
    args?: Record<string, unknown>;
  }): Promise<string> {
    const accepted = { args: {}, ...run, callbackUrl: 'https://a.example/', timeoutMs: 10_000 };
    return insertRun(this.database, this.ctx.sealer, { ...accepted, traceId: 'accepted' }, 1_000);
  }

  async run(
    tenantId: string,
    record: Partial<RunRecord> = {},
    more: Partial<RunLogEntry> = {},
  ): Promise<string> {
    const entry: RunLogEntry = {
      runId: timeOrderedId(),
      tenantId,
      kind: 'reactor',
      resourceId: randomUUID(),
      traceId: 'trace',
      applicationId: null,
      mode: 'sync',
      attempt: 1,
      record: {
        outcome: 'completed',
        status: 200,
        startedAt: Date.now(),
        durationMs: 1,
        queuedMs: 0,
        argumentNames: [],
        tokenIds: [],
        lines: [],
        ...record,
      },
      ...more,
    };
    const sealed = await sealTexts(this.ctx.sealer, entry);
    const createdAt = entry.record.startedAt;
    await insertEndedRuns(this.database, [{ ...entry, createdAt, sealed }]);
    return entry.runId;
  }

  /** A call that has ended. `columns` are those that are not the ordinary ones. */
  async call(
    tenantId: string,
    columns: Readonly<Record<string, unknown>> = {},
    id = timeOrderedId(),
  ): Promise<string> {
    const row = {
      ...{ tenant_id: tenantId, id, method: 'GET', path: '/proxy', outcome: 'completed' },
      ...{ status: 200, trace_id: 'trace', ended_ms: 5, token_ids: '{}', count: 1 },
      created_at: new Date(timeOfId(id) ?? 0),
      ...columns,
    };
    const places = Object.keys(row).map((_, nth) => `$${nth + 1}`);
    await this.database.query(
      `INSERT INTO calls (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`,
      Object.values(row),
    );
    return id;
  }

  /** Calls that a process has counted in a minute: one of 2 ms, unless `columns` say otherwise. */
  async count(
    tenantId: string,
    columns: Readonly<Record<string, unknown>> = {},
    minute = new Date(Date.now() - 60_000),
  ): Promise<void> {
    const row = {
      ...{ tenant_id: tenantId, id: timeOrderedId(minute.getTime()), minute, path: '/proxy' },
      ...{ outcome: 'completed', calls: 1, duration_ms: 2, created_at: minute },
      latencies: Array.from({ length: 16 }, (_, nth) => (nth === 1 ? 1 : 0)),
      ...columns,
    };
    const places = Object.keys(row).map((_, nth) => `$${nth + 1}`);
    await this.database.query(
      `INSERT INTO call_summary (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`,
      Object.values(row),
    );
  }

  /** A webhook that waits, or that ended so long ago. */
  async webhook(
    tenantId: string,
    {
      id = timeOrderedId(),
      reactorId = randomUUID(),
      url = 'https://shop.example/hook',
      body = '{"raw":1}',
      sights = body === null ? null : [],
      ended,
    }: {
      id?: string;
      reactorId?: string;
      url?: string;
      body?: string | null;
      sights?: readonly Sight[] | null;
      ended?: { status: 'delivered' | 'failed'; ago?: string };
    } = {},
  ): Promise<string> {
    const { sealer } = this.ctx;
    const sealed = (column: 'body' | 'callback_url', text: string): Promise<Buffer> =>
      sealer.seal(webhookPlace(tenantId, id, column), text);
    const values = [
      tenantId,
      id,
      reactorId,
      await sealed('callback_url', url),
      await receiverOf(sealer, tenantId, new URL(url).hostname),
      body === null ? null : await sealed('body', body),
      JSON.stringify([{ at: new Date(0).toISOString(), ms: 5, status: 500, outcome: 'rejected' }]),
      sights && JSON.stringify(sights),
    ];
    await (ended
      ? this.database.query(
          `INSERT INTO ended_deliveries (tenant_id, id, run_id, reactor_id, webhook_id, callback_url,
             receiver, body, attempt_log, sights, status, outcome, created_at, ended_at)
           VALUES ($1, $2::uuid, $2::uuid, $3, 'msg_' || $2::uuid, $4, $5, $6, $7, $8, $9, 'rejected',
             now(), now() - $10::interval)`,
          [...values, ended.status, ended.ago ?? '0'],
        )
      : this.database.query(
          `INSERT INTO webhook_deliveries (tenant_id, id, run_id, reactor_id, webhook_id,
             callback_url, receiver, body, attempt_log, sights, status, next_attempt_at, created_at)
           VALUES ($1, $2::uuid, $2::uuid, $3, 'msg_' || $2::uuid, $4, $5, $6, $7, $8, 'pending', now(),
             now())`,
          values,
        ));
    return id;
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
