import { randomBytes, randomInt } from 'node:crypto';
import { isRole } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import { notFound, Problem } from '@glovebox/problems';
import type { ManagementContext } from '../context';
import { asSql, inTenant, ofNoTenant } from '../database/in-tenant';
import { addSession, findSession, recordOf, type Session } from './sessions';

/** How long somebody has to decide. */
const waitMs = 600_000;
/** Machines that nobody has decided on yet, in all … */
const machinesMax = 10_000;
/** … and of one network. */
const machinesOfNetworkMax = 200;
const sessionMs = 12 * 3_600_000;
const pollSeconds = 2;

/** No vowels, so that no word appears, and nothing that looks like another letter. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const codeLength = 8;

/** A command line that asks to be signed in, as the page shows it. */
interface Asking {
  readonly machine: string;
  readonly network: string;
  readonly begunAt: Date;
}

/**
 * Begins to wait for somebody who decides in the console. The device code stays with the command
 * line, the other one is typed by the person. Their hashes alone are stored.
 */
export async function beginMachine(
  { dataSource, keyHash }: ManagementContext,
  { machine, network }: Omit<Asking, 'begunAt'>,
) {
  const deviceCode = randomBytes(32).toString('base64url');
  const code = Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join(
    '',
  );
  const sql = ofNoTenant(dataSource);
  for (const [of, max, values] of [
    ['network = $2', machinesOfNetworkMax, [network]],
    ['true', machinesMax, []],
  ] as const) {
    await sql.query(
      `DELETE FROM console_machines WHERE ${isOpen} AND device_hash IN (
         SELECT device_hash FROM console_machines WHERE ${isOpen} AND ${of}
         ORDER BY expires_at DESC OFFSET $1)`,
      [max - 1, ...values],
    );
  }
  await sql.query(
    `INSERT INTO console_machines (device_hash, code_hash, machine, network, begun_at, expires_at)
     VALUES ($1, $2, $3, $4, now(), now() + make_interval(secs => $5))`,
    [keyHash(deviceCode), keyHash(code), machine, network, waitMs / 1_000],
  );
  return {
    device_code: deviceCode,
    user_code: `${code.slice(0, 4)}-${code.slice(4)}`,
    expires_in: waitMs / 1_000,
    interval: pollSeconds,
  };
}

/** The session of a machine that was confirmed, once. Undefined: nobody has decided yet. */
export async function takeMachineSession(
  ctx: ManagementContext,
  deviceHash: string,
  traceId: string,
): Promise<{ key: string; session: Session; expiresAt: Date } | undefined> {
  const [asking] = await ofNoTenant(ctx.dataSource).query<{
    tenantId: string | null;
    personId: string | null;
    isRefused: boolean;
  }>(
    `SELECT tenant_id AS "tenantId", person_id AS "personId", is_refused AS "isRefused"
     FROM console_machines
     WHERE device_hash = $1 AND expires_at > now()`,
    [deviceHash],
  );
  if (!asking) throw nobodyWaits();
  if (asking.isRefused)
    throw new Problem('permission_denied', { detail: 'It was refused in the console.' });
  const { tenantId, personId } = asking;
  if (tenantId === null || personId === null) return undefined;
  const key = await inTenant(ctx.dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    const [person] = await sql.query<{ role: string }>(
      'SELECT role FROM people WHERE id = $1 FOR NO KEY UPDATE',
      [personId],
    );
    const [taken] = await sql.query<{ machine: string }>(
      'DELETE FROM console_machines WHERE device_hash = $1 AND expires_at > now() RETURNING machine',
      [deviceHash],
    );
    // The role may have been lost since. What was confirmed with it is over, also if it comes back.
    if (!taken || !person || !isRole(person.role)) return undefined;
    return addSession(ctx, sql, { tenantId, personId, traceId, machine: taken.machine });
  });
  const session = key === undefined ? undefined : await findSession(ctx, ctx.keyHash(key));
  if (key === undefined || !session) throw nobodyWaits();
  return { key, session, expiresAt: new Date(Date.now() + sessionMs) };
}

/** The machine that waits under the code that somebody typed. */
export async function findMachine(
  ctx: ManagementContext,
  session: Session,
  code: string,
): Promise<Asking> {
  await inTenant(ctx.dataSource, session.tenantId, (manager) =>
    requirePage(asSql(manager), session),
  );
  const [asking] = await ofNoTenant(ctx.dataSource).query<Asking>(
    `SELECT machine, network, begun_at AS "begunAt" FROM console_machines
     WHERE code_hash = $1 AND ${isUndecided}`,
    [ctx.keyHash(code)],
  );
  if (!asking) throw noSuchCode();
  return asking;
}

/** Signs the machine in as the person of the session, or refuses it. Each is decided once. */
export async function decideMachine(
  ctx: ManagementContext,
  session: Session,
  { code, isConfirmed, traceId }: { code: string; isConfirmed: boolean; traceId: string },
): Promise<void> {
  const { tenantId, personId } = session;
  await inTenant(ctx.dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    // Whoever ends the sessions of the person locks the row as well.
    await sql.query('SELECT 1 FROM people WHERE id = $1 FOR NO KEY UPDATE', [personId]);
    await requirePage(sql, session);
    const decided = isConfirmed ? 'tenant_id = $2, person_id = $3' : 'is_refused = true';
    const rows = await sql.query(
      `UPDATE console_machines SET ${decided} WHERE code_hash = $1 AND ${isUndecided} RETURNING 1`,
      [ctx.keyHash(code), ...(isConfirmed ? [tenantId, personId] : [])],
    );
    if (rows.length === 0) throw noSuchCode();
    const operation = isConfirmed ? 'console.confirm_machine' : 'console.refuse_machine';
    await recordOf({ tenantId, personId, traceId }, operation, sql);
  });
}

const isOpen = 'tenant_id IS NULL AND NOT is_refused';
const isUndecided = `expires_at > now() AND ${isOpen}`;

/** The letters of the code, however they were typed. */
export function readUserCode(given: unknown): string {
  const code = typeof given === 'string' ? given.toUpperCase().replace(/[^A-Z]/g, '') : '';
  if (code.length !== codeLength) throw noSuchCode();
  return code;
}

/** A machine that signed in others would never have to be signed in by a person again. */
async function requirePage(sql: Sql, { sessionId }: Session): Promise<void> {
  const rows = await sql.query('SELECT 1 FROM console_sessions WHERE id = $1 AND machine IS NULL', [
    sessionId,
  ]);
  if (rows.length > 0) return;
  throw new Problem('permission_denied', { detail: 'The page of the console alone decides this.' });
}

const noSuchCode = (): Problem => notFound('command line with this code');

const nobodyWaits = (): Problem =>
  new Problem('session_ended', {
    detail: 'The sign-in took longer than ten minutes, or its code was used. Begin again.',
  });
