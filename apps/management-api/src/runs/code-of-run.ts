import type { Sql } from '@glovebox/database';
import type { WholeRunRow } from '@glovebox/runs';
import type { Sealer } from '@glovebox/seal';
import { codeMax } from '../code/code-members';
import { codeHash, idOfCode, idOfHash, readCodes } from '../code/code-texts';
import type { CodeMembers } from '../code/stored-code';

/** The code of a run's moment. */
export interface CodeOfRun {
  /** Absent where it is not kept any more, or is a bundle. */
  readonly code?: string;
  /** Of a bundle: GET /code/{sha256} has the text. */
  readonly code_sha256?: string;
  /** Whether a run of now would execute other code, or none. */
  readonly code_changed?: boolean;
}

/** Code in force is read where it is in force. Only former code, and bundles, are kept apart. */
export async function codeOfRun(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  run: WholeRunRow,
): Promise<CodeOfRun> {
  const { codeId } = run;
  if (codeId === null) return {};
  const { code, code_sha256: hash } = await codeInForce(sql, tenantId, run);
  if (hash !== undefined && idOfHash(hash) === codeId) {
    return { code_sha256: hash, code_changed: false };
  }
  if (code !== undefined && idOfCode(code) === codeId) return { code, code_changed: false };
  const former = (await readCodes(sql, sealer, tenantId, [codeId])).get(codeId);
  if (former === undefined) return { code_changed: true };
  const shown = former.length > codeMax ? { code_sha256: codeHash(former) } : { code: former };
  return { ...shown, code_changed: true };
}

async function codeInForce(
  sql: Sql,
  tenantId: string,
  { kind, mode, resourceId }: WholeRunRow,
): Promise<CodeMembers> {
  const side = mode === 'request' ? 'request' : 'response';
  const [row] = await sql.query<{ code: string | null; hash: string | null }>(
    kind === 'reactor'
      ? `SELECT code, code_sha256 AS hash FROM reactors r JOIN reactor_formulas f ON f.id = r.formula_id
         WHERE r.tenant_id = $1 AND r.id = $2`
      : `SELECT ${side}_transform ->> 'code' AS code, ${side}_transform ->> 'code_sha256' AS hash
         FROM proxies WHERE tenant_id = $1 AND id = $2`,
    [tenantId, resourceId],
  );
  const { code, hash } = row ?? {};
  return { ...(code ? { code } : {}), ...(hash ? { code_sha256: hash } : {}) };
}
