import type { Sql } from '@glovebox/database';
import type { WholeRunRow } from '@glovebox/runs';
import type { Sealer } from '@glovebox/seal';
import { idOfCode, readCodes } from '../code/code-texts';

/** The code of a run's moment. */
export interface CodeOfRun {
  /** Absent where it is not kept any more. */
  readonly code?: string;
  /** Whether a run of now would execute other code, or none. */
  readonly code_changed?: boolean;
}

/** Code in force is read where it is in force. Only former code is kept apart. */
export async function codeOfRun(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  run: WholeRunRow,
): Promise<CodeOfRun> {
  const { codeId } = run;
  if (codeId === null) return {};
  const inForce = await codeInForce(sql, tenantId, run);
  if (inForce !== null && idOfCode(inForce) === codeId) {
    return { code: inForce, code_changed: false };
  }
  const code = (await readCodes(sql, sealer, tenantId, [codeId])).get(codeId);
  return { ...(code === undefined ? {} : { code }), code_changed: true };
}

async function codeInForce(
  sql: Sql,
  tenantId: string,
  { kind, mode, resourceId }: WholeRunRow,
): Promise<string | null> {
  const [row] = await sql.query<{ code: string | null }>(
    kind === 'reactor'
      ? `SELECT code FROM reactors r JOIN reactor_formulas f ON f.id = r.formula_id
         WHERE r.tenant_id = $1 AND r.id = $2`
      : `SELECT ${mode === 'request' ? 'request' : 'response'}_transform ->> 'code' AS code
         FROM proxies WHERE tenant_id = $1 AND id = $2`,
    [tenantId, resourceId],
  );
  return row?.code ?? null;
}
