import type { PreparedStatement, Sql } from '@glovebox/database';
import type { Place, Sealer } from '@glovebox/seal';
import type { CapturedMessages } from './messages';

/** Of one tenant, all its proxies together. The newest stay. */
export const capturesMax = 100;
/** Sealed bytes of one tenant. */
export const captureBytesMax = 10 * 1024 * 1024;
export const captureHours = 24;

export interface CapturedCall {
  readonly tenantId: string;
  readonly id: string;
  readonly proxyId: string;
  readonly traceId: string;
  readonly method: string;
  /** Undefined: the caller left before an answer. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly isWhole: boolean;
  readonly messages: CapturedMessages;
}

export const capturePlace = (tenantId: string, id: string): Place => ({
  table: 'captures',
  column: 'messages',
  tenantId,
  record: id,
});

const statement: PreparedStatement = {
  name: 'keep-capture',
  text: 'SELECT keep_capture($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
};

/** Adds a capture, and drops the oldest ones of its tenant above the limits. */
export async function keepCapture(sql: Sql, sealer: Sealer, call: CapturedCall): Promise<void> {
  const { tenantId, id, messages } = call;
  const sealed = await sealer.seal(capturePlace(tenantId, id), JSON.stringify(messages));
  await sql.query(statement, [
    tenantId,
    id,
    call.proxyId,
    call.traceId,
    call.method,
    call.status ?? null,
    call.code ?? null,
    call.isWhole,
    sealed,
    capturesMax,
    captureBytesMax,
  ]);
}
