import type { Sql } from '@glovebox/database';
import type { Place, Sealer } from '@glovebox/seal';

/** A text of code is sealed under half of its hash, and its source map under the same. */
export const codePlace = (
  tenantId: string,
  record: string,
  column: 'text' | 'map' = 'text',
): Place => ({ table: 'code_texts', column, tenantId, record });

/** Reads a text that is kept. Undefined: there is none of the tenant. */
export async function readCodeText(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  id: string,
): Promise<Buffer | undefined> {
  const [row] = await sql.query<{ text: Buffer }>(statement, [tenantId, id]);
  return row && sealer.open(codePlace(tenantId, id), row.text);
}

const statement = {
  name: 'read-code-text',
  text: 'SELECT text FROM code_texts WHERE tenant_id = $1 AND id = $2',
};
