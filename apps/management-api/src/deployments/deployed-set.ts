import { timeOfId, timeOrderedId, type Sql } from '@glovebox/database';
import { notFound } from '@glovebox/problems';
import type { Place, Sealer } from '@glovebox/seal';
import { bytesOfTexts, idOfCode, idOfHash, readCodes } from '../code/code-texts';
import type { DeployedKind, ItemChange } from './deployments.dto';
import { withCode, withoutCode, type Document } from './documents';

/** The newest deployments of a tenant are kept, and no more of them … */
const deploymentsMax = 50;
/** … nor more bytes, with the code that each put in force. The newest and the one before stay in any case. */
const deploymentsBytesMax = 64 * 1024 * 1024;
/**
 * Beyond these, the newest two of each project are kept, so that others which deploy more often take no rollback
 * from it: up to this number, and as many bytes again.
 */
const lastOfProjectsMax = 40;

/** A resource as a deployment left it. */
export interface Deployed {
  readonly kind: DeployedKind;
  readonly slug: string;
  readonly id: string;
  /** Whose files put it in force. Absent: those of a folder that names no project. */
  readonly project?: string | undefined;
  readonly formulaId?: string | undefined;
  /** Of a proxy, so that it comes back with its key. */
  readonly key?: string | undefined;
  readonly document: Document;
}

const placeOf = (tenantId: string, record: string): Place => ({
  table: 'deployments',
  column: 'state',
  tenantId,
  record,
});

interface StateRow {
  readonly id: string;
  readonly state: Buffer;
  readonly codeIds: string[];
}

const columns = `id, state, code_ids AS "codeIds"`;

/** The newest deployment: all that was deployed from files, of whatever project, and not pruned since. */
export async function newestDeployed(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
): Promise<{ readonly id: string | undefined; readonly items: Deployed[] }> {
  const [row] = await sql.query<StateRow>(
    `SELECT ${columns} FROM deployments WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1`,
    [tenantId],
  );
  return { id: row?.id, items: row ? await openState(sql, sealer, tenantId, row) : [] };
}

/** Ids are the order of deployments: one is above all before it, also where clocks of processes differ. */
export function idAfter(newest: string | undefined): string {
  const before = newest === undefined ? undefined : timeOfId(newest);
  return timeOrderedId(Math.max(Date.now(), (before ?? 0) + 1));
}

/** The newest deployment of a project. Undefined: none is kept. */
export async function newestOf(
  sql: Sql,
  tenantId: string,
  project: string | undefined,
): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `SELECT id FROM deployments WHERE tenant_id = $1 AND project IS NOT DISTINCT FROM $2
     ORDER BY id DESC LIMIT 1`,
    [tenantId, project ?? null],
  );
  return row?.id;
}

/** The project of a deployment, and all that it had in force then. */
export async function deployedBy(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  id: string,
): Promise<{ readonly project: string | undefined; readonly items: Deployed[] }> {
  const [row] = await sql.query<StateRow & { readonly project: string | null }>(
    `SELECT ${columns}, project FROM deployments WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  if (!row) throw notFound('deployment');
  const project = row.project ?? undefined;
  const items = await openState(sql, sealer, tenantId, row);
  return { project, items: items.filter((item) => item.project === project) };
}

/**
 * Ids of what files alone have deleted since a deployment. What is gone was deleted once more than it was made
 * again: where fewer of these were deployments, somebody has deleted it by hand meanwhile.
 */
export async function prunedSince(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `SELECT c ->> 'id' AS id FROM deployments d, jsonb_array_elements(d.changes) c
     WHERE d.tenant_id = $1 AND d.id > $2
     GROUP BY 1 HAVING count(*) FILTER (WHERE c ->> 'change' = 'pruned') >
       count(*) FILTER (WHERE c ->> 'change' = 'created')`,
    [tenantId, id],
  );
  return new Set(rows.map((row) => row.id));
}

async function openState(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  { id, state, codeIds }: StateRow,
): Promise<Deployed[]> {
  const opened = await sealer.open(placeOf(tenantId, id), state);
  const codes = await readCodes(sql, sealer, tenantId, codeIds);
  const stored = JSON.parse(opened.toString('utf8')) as Deployed[];
  return stored.map((item) => ({ ...item, document: withCode(item.document, codes) }));
}

export interface NewDeployment {
  readonly id: string;
  readonly tenantId: string;
  readonly message: string | null;
  readonly project: string | undefined;
  readonly rollbackOf: string | null;
  readonly createdBy: string | null;
  readonly traceId: string;
  readonly changes: readonly ItemChange[];
  readonly items: readonly Deployed[];
}

/** Keeps what a deployment puts in force, and forgets the oldest. Returns the texts of code that it needs. */
export async function keepDeployment(
  sql: Sql,
  sealer: Sealer,
  deployment: NewDeployment,
): Promise<string[]> {
  const { id, tenantId } = deployment;
  const codes = new Set<string>();
  const bundles = new Set<string>();
  const stored = deployment.items.map((item) => {
    const without = withoutCode(item.document);
    for (const code of without.codes) codes.add(code);
    for (const hash of without.bundles) bundles.add(idOfHash(hash));
    return { ...item, document: without.stored };
  });
  const codeIds = [...[...codes].map(idOfCode), ...bundles];
  const state = await sealer.seal(placeOf(tenantId, id), JSON.stringify(stored));
  const bytesOfBundles = await bytesOfTexts(sql, tenantId, [...bundles]);
  const bytes = [...codes].reduce(
    (sum, code) => sum + Buffer.byteLength(code),
    state.length + bytesOfBundles,
  );
  await sql.query(
    `INSERT INTO deployments (tenant_id, id, message, project, rollback_of, changes, state, code_ids,
       bytes, trace_id, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now())`,
    [
      ...[tenantId, id, deployment.message, deployment.project ?? null, deployment.rollbackOf],
      ...[JSON.stringify(deployment.changes), state, codeIds, bytes],
      ...[deployment.traceId, deployment.createdBy],
    ],
  );
  await sql.query(forgetStatement, [
    ...[tenantId, deploymentsMax, deploymentsBytesMax, lastOfProjectsMax],
  ]);
  return [...codes];
}

/**
 * One that made a resource again takes along the older ones that name this resource. These could not tell any more
 * that it was deleted by hand, and would bring back a key that was ended.
 */
const forgetStatement = `
  WITH placed AS (
    SELECT *, row_number() OVER newest AS nth, sum(bytes) OVER newest AS so_far,
      count(*) FILTER (WHERE is_last) OVER newest AS nth_last,
      sum(bytes) FILTER (WHERE is_last) OVER newest AS so_far_last
    FROM (
      SELECT id, rollback_of, changes, bytes,
        row_number() OVER (PARTITION BY project ORDER BY id DESC) <= 2 AS is_last
      FROM deployments WHERE tenant_id = $1) of_tenant
    WINDOW newest AS (ORDER BY id DESC)
  ), forgotten AS (
    SELECT id, rollback_of, changes FROM placed
    WHERE nth > 2 AND (nth > $2 OR so_far > $3)
      AND NOT (is_last AND nth_last <= $4 AND so_far_last <= $3)
  ), made_again AS (
    SELECT f.id, c ->> 'id' AS resource_id FROM forgotten f, jsonb_array_elements(f.changes) c
    WHERE f.rollback_of IS NOT NULL AND c ->> 'change' = 'created'
  )
  DELETE FROM deployments d WHERE tenant_id = $1 AND (
    EXISTS (SELECT FROM forgotten f WHERE f.id = d.id)
    OR EXISTS (SELECT FROM made_again m WHERE m.id > d.id
      AND d.changes @> jsonb_build_array(jsonb_build_object('id', m.resource_id))))`;
