import { Conditions, type CursorQuery, type Sql } from '@glovebox/database';
import { captureHours } from './keep-capture';

export interface CaptureRow {
  id: string;
  proxyId: string;
  traceId: string;
  method: string;
  status: number | null;
  code: string | null;
  isWhole: boolean;
  bytes: number;
  createdAt: Date;
}

const columns = `id, proxy_id AS "proxyId", trace_id AS "traceId", method, status, code,
  is_whole AS "isWhole", octet_length(messages) AS bytes, created_at AS "createdAt"`;
/** Housekeeping may be late. */
const isKept = `created_at > now() - interval '${captureHours} hours'`;

/** The newest first: one more than the part has, if there is one. */
export async function findCaptureIds(
  sql: Sql,
  { tenantId, proxyId }: { readonly tenantId: string; readonly proxyId: string },
  query: CursorQuery,
): Promise<string[]> {
  const where = new Conditions()
    .add('tenant_id =', tenantId)
    .add('proxy_id =', proxyId)
    .addRange(query);
  const limit = where.parameter(query.size + 1);
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM captures WHERE ${where} AND ${isKept} ORDER BY id DESC LIMIT ${limit}`,
    where.values,
  );
  return rows.map(({ id }) => id);
}

/** Selects the captures with these ids, of a tenant. */
export const capturesById = `SELECT ${columns} FROM captures
  WHERE tenant_id = $2 AND id = ANY ($1) AND ${isKept}`;

export async function findCapture(
  sql: Sql,
  { tenantId, proxyId, id }: { tenantId: string; proxyId: string; id: string },
): Promise<(CaptureRow & { readonly messages: Buffer }) | undefined> {
  const [row] = await sql.query<CaptureRow & { readonly messages: Buffer }>(
    `SELECT ${columns}, messages FROM captures
     WHERE tenant_id = $1 AND proxy_id = $2 AND id = $3 AND ${isKept}`,
    [tenantId, proxyId, id],
  );
  return row;
}

/** Drops what is kept of a proxy that goes. */
export async function dropCaptures(sql: Sql, tenantId: string, proxyId: string): Promise<void> {
  await sql.query('DELETE FROM captures WHERE tenant_id = $1 AND proxy_id = $2', [
    tenantId,
    proxyId,
  ]);
}
