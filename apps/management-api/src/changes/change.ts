import type { EntityManager } from 'typeorm';
import { applicationDeleted, type Principal } from '@glovebox/access';
import { recordEach, type Sql } from '@glovebox/database';
import { appendChanges, type Definition } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import { trimCode } from '../code/code-texts';
import { noteCode, type CodeMembers } from '../code/stored-code';
import type { ManagementContext } from '../context';
import type { EntityTags } from '../http/entity-tags';
import { asSql, inTenant } from '../database/in-tenant';
import { storeOutcome, type Claim } from '@glovebox/idempotency';
import { refuseEqualMatches } from '../proxies/proxy-match';
import { slugTaken } from './slug';

/** The caller that makes a change. */
export interface Author {
  readonly tenantId: string;
  /** Null for the operator's command line, which is no application. */
  readonly actorId: string | null;
  readonly traceId: string;
  /** A person of the console, who is shown no secrets and lends code no more than is allowed. */
  readonly person?: Principal;
  /** The claim of a call that came with an idempotency key. */
  readonly claim: Claim | undefined;
  /** What the caller says of versions of the resource, and is told of them. */
  readonly tags?: EntityTags | undefined;
}

type Deletion = Pick<Definition, 'kind' | 'id'>;

export type Action =
  | 'create'
  | 'update'
  | 'delete'
  | 'create_key'
  | 'delete_key'
  | 'regenerate'
  | 'rotate_webhook_secret'
  | 'create_forward_ca'
  | 'rotate_forward_ca';

export interface AuditLine {
  readonly operation: string;
  readonly entityType: string;
  readonly entityIds: readonly string[];
  /** In the words of the author. */
  readonly reason?: string;
}

/** The effect of a change. Without definitions and deletions, nothing was changed. */
export interface ChangeOutcome<Result> {
  readonly result: Result;
  readonly definitions?: readonly Definition[];
  readonly deletions?: readonly Deletion[];
  /** Code that is in force no longer, or may be. */
  readonly formerCode?: readonly CodeMembers[];
  /** Lines of the audit log, where the action is not one and the same for all. */
  readonly lines?: readonly AuditLine[];
}

/**
 * Writes rows, lines of the audit log and the new state for the data plane in one transaction.
 * Returns only after the data plane was told.
 */
export async function change<Result>(
  ctx: ManagementContext,
  author: Author,
  action: Action,
  work: (manager: EntityManager) => Promise<ChangeOutcome<Result>>,
): Promise<Result> {
  const { tenantId, tags } = author;
  const { result, version, id } = await inTenant(ctx.dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    await holdTenant(sql, author);
    const changed = await work(manager).catch((error: unknown) => {
      throw slugTaken(error) ?? error;
    });
    const { result, definitions = [], deletions = [], formerCode = [] } = changed;
    await noteCode(sql, ctx.sealer, tenantId, definitions, formerCode);
    if (formerCode.length > 0) await trimCode(sql, tenantId);
    const each = [...definitions, ...deletions].map(({ kind, id }) => ({
      operation: `${kind}.${action}`,
      entityType: kind,
      entityIds: [id],
    }));
    for (const { entityIds, ...line } of changed.lines ?? each) {
      await recordEach(sql, { ...author, ...line, outcome: 'success' }, entityIds);
    }
    await storeOutcome(sql, ctx.sealer, author.claim, result);
    const before = definitions.length > 0 ? await definitionsOf(sql, tenantId) : undefined;
    // Last, because only one transaction at a time holds the head of the log.
    const version =
      definitions.length + deletions.length === 0
        ? undefined
        : await appendChanges(
            sql,
            ctx.ring,
            definitions,
            deletions.map((deletion) => ({ ...deletion, tenantId })),
          );
    if (before) await refuseOverfull(ctx, sql, tenantId, before);
    await refuseEqualMatches(sql, tenantId, definitions);
    return { result, version, id: definitions[0]?.id };
  });
  if (version !== undefined) await ctx.definitions.announce(version);
  if (version !== undefined && id !== undefined) tags?.tell({ id, version });
  return result;
}

/**
 * Locks the tenant against deletion until the end of the transaction. Waits for a deletion that is
 * under way. Every change, and the deletion of a tenant, takes its locks in this order: tenant,
 * rows, head of the log. So they cannot deadlock.
 */
async function holdTenant(sql: Sql, { tenantId, actorId }: Author): Promise<void> {
  const [tenant] = await sql.query(`SELECT 1 FROM tenants WHERE id = $1 FOR KEY SHARE`, [tenantId]);
  // The operator's command creates the tenant. Any other author's key ended with its tenant.
  if (!tenant && actorId !== null) throw applicationDeleted();
}

/** The tenant's definitions in the log. Every process that follows the log holds them in memory. */
interface Definitions {
  readonly count: number;
  readonly bytes: number;
}

async function definitionsOf(sql: Sql, tenantId: string): Promise<Definitions> {
  const [row] = await sql.query<{ definitions: string; bytes: string }>(
    `SELECT definitions, bytes FROM definition_sizes WHERE tenant_id = $1`,
    [tenantId],
  );
  return { count: Number(row?.definitions ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/**
 * Runs under the lock on the head of the log, so that no other definition is written in between. A
 * tenant above a limit that was lowered may still reduce its definitions.
 */
async function refuseOverfull(
  { config }: ManagementContext,
  sql: Sql,
  tenantId: string,
  before: Definitions,
): Promise<void> {
  const now = await definitionsOf(sql, tenantId);
  const { DEFINITIONS_PER_TENANT: countMax, DEFINITION_BYTES_PER_TENANT: bytesMax } = config;
  if (now.count > countMax && now.count > before.count) {
    throw new Problem('conflict', { detail: `A tenant may have at most ${countMax} definitions.` });
  }
  if (now.bytes > bytesMax && now.bytes > before.bytes) {
    throw new Problem('conflict', {
      detail: `The definitions of a tenant may take at most ${bytesMax} bytes.`,
    });
  }
}
