import { randomBytes, randomUUID } from 'node:crypto';
import { generateSessionKey, isRole, isSessionKey, type Role } from '@glovebox/access';
import { record, timeOrderedId, type Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { ManagementContext } from '../context';
import { asSql, inTenant, ofNoTenant } from '../database/in-tenant';

/** As the console_session function of the database has it. */
export const idleMinutes = 30;
export const isLive = `(machine IS NOT NULL OR seen_at > now() - interval '30 minutes')
  AND created_at > now() - interval '12 hours'`;
const sessionsOfPersonMax = 10;
const sessionsOfTenantMax = 1_000;
const codeMinutes = 5;

/** Somebody who signs in, as a link or an issuer names them. */
export interface SigningIn {
  readonly tenantId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly role: Role;
}

/** A session that is alive, with the person as they are now. */
export interface Session {
  readonly sessionId: string;
  readonly tenantId: string;
  readonly tenantName: string;
  readonly personId: string;
  readonly personName: string;
  readonly role: Role;
}

interface SessionRow extends Omit<Session, 'role'> {
  readonly role: string;
}

const sessionByHash = `SELECT session_id AS "sessionId", tenant_id AS "tenantId",
  tenant_name AS "tenantName", person_id AS "personId", person_name AS "personName", role
  FROM console_session($1)`;

/** Asked anew by every request, so that a session that ended opens nothing in any process. */
export async function findSession(
  { dataSource }: ManagementContext,
  keyHash: string,
): Promise<Session | undefined> {
  const [row] = await ofNoTenant(dataSource).query<SessionRow>(sessionByHash, [keyHash]);
  return row && isRole(row.role) ? { ...row, role: row.role } : undefined;
}

/** Makes a code that opens one session. Its hash alone is stored. */
export async function makeCode(
  ctx: ManagementContext,
  person: SigningIn,
  { bindingHash }: { readonly bindingHash?: string } = {},
): Promise<string> {
  const { tenantId, issuer, subject, name, role } = person;
  const code = randomBytes(32).toString('base64url');
  await inTenant(ctx.dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    const [tenant] = await sql.query('SELECT 1 FROM tenants WHERE id = $1 FOR KEY SHARE', [
      tenantId,
    ]);
    if (!tenant) throw new Error('There is no tenant with this id.');
    const [known] = await sql.query<{ id: string }>(
      `INSERT INTO people (id, tenant_id, issuer, subject, name, role, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, now())
       ON CONFLICT ON CONSTRAINT people_subject_unique
       DO UPDATE SET name = excluded.name, role = excluded.role RETURNING id`,
      [randomUUID(), tenantId, issuer, subject, name, role],
    );
    await sql.query(
      `INSERT INTO console_codes (code_hash, tenant_id, person_id, binding_hash, expires_at)
       VALUES ($1, $2, $3, $4, now() + make_interval(mins => $5))`,
      [ctx.keyHash(code), tenantId, known?.id, bindingHash ?? null, codeMinutes],
    );
  });
  return code;
}

/** Opens a session for a code. Of two at once that bring the same code, one deletes its row. */
export async function openSession(
  ctx: ManagementContext,
  { code, binding, traceId }: { code: string; binding?: string | undefined; traceId: string },
): Promise<{ readonly key: string; readonly session: Session }> {
  const { dataSource, keyHash } = ctx;
  const codeHash = keyHash(code);
  const [place] = await ofNoTenant(dataSource).query<{ tenantId: string | null }>(
    'SELECT tenant_of_console_code($1) AS "tenantId"',
    [codeHash],
  );
  const tenantId = place?.tenantId;
  if (!tenantId) throw noSuchCode();
  const key = await inTenant(dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    const [used] = await sql.query<{ personId: string }>(
      `DELETE FROM console_codes WHERE code_hash = $1 AND expires_at > now()
         AND (binding_hash IS NULL OR binding_hash = $2)
       RETURNING person_id AS "personId"`,
      [codeHash, binding === undefined ? null : keyHash(binding)],
    );
    if (!used) throw noSuchCode();
    return addSession(ctx, sql, { tenantId, personId: used.personId, traceId });
  });
  const session = await findSession(ctx, keyHash(key));
  if (!session) throw noSuchCode();
  return { key, session };
}

/** Adds a session, of a page unless a machine is named, and returns its key. */
export async function addSession(
  { keyHash }: ManagementContext,
  sql: Sql,
  { tenantId, personId, traceId, machine }: SessionOf & { readonly machine?: string },
): Promise<string> {
  const key = generateSessionKey();
  await endOldest(sql, tenantId, personId);
  await sql.query(
    `INSERT INTO console_sessions (id, tenant_id, person_id, key_hash, created_at, seen_at, machine)
     VALUES ($1, $2, $3, $4, now(), now(), $5)`,
    [timeOrderedId(), tenantId, personId, keyHash(key), machine ?? null],
  );
  const operation = machine === undefined ? 'console.sign_in' : 'console.sign_in_machine';
  await recordOf({ tenantId, personId, traceId }, operation, sql);
  return key;
}

/** Makes room for one more. Sign-ins of one person take turns at its row. */
async function endOldest(sql: Sql, tenantId: string, personId: string): Promise<void> {
  await sql.query('SELECT 1 FROM people WHERE id = $1 FOR NO KEY UPDATE', [personId]);
  for (const [column, value, max] of [
    ['person_id', personId, sessionsOfPersonMax],
    ['tenant_id', tenantId, sessionsOfTenantMax],
  ] as const) {
    await sql.query(
      `DELETE FROM console_sessions WHERE id IN (
         SELECT id FROM console_sessions WHERE ${column} = $1
         ORDER BY created_at DESC, id OFFSET $2)`,
      [value, max - 1],
    );
  }
}

/**
 * Takes all access from somebody, except in the tenant where they have a role now. The log of each
 * tenant has a line of it.
 */
export async function endPeople(
  { dataSource }: ManagementContext,
  somebody: {
    readonly issuer: string;
    readonly subject: string;
    readonly butIn: string | undefined;
    readonly traceId: string;
  },
): Promise<void> {
  const { issuer, subject, butIn = null, traceId } = somebody;
  const values = [issuer, subject, butIn, traceId];
  await ofNoTenant(dataSource).query('SELECT end_people($1, $2, $3, $4)', values);
}

/** Signs out. From then on no process finds the session. */
export async function endSession(
  { dataSource }: ManagementContext,
  { sessionId, tenantId, personId }: Session,
  traceId: string,
): Promise<void> {
  await inTenant(dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    await sql.query('DELETE FROM console_sessions WHERE id = $1', [sessionId]);
    await recordOf({ tenantId, personId, traceId }, 'console.sign_out', sql);
  });
}

type SessionOf = Pick<Session, 'tenantId' | 'personId'> & { readonly traceId: string };

export function recordOf(
  { tenantId, personId, traceId }: SessionOf,
  operation: string,
  sql: Sql,
): Promise<void> {
  return record(sql, {
    tenantId,
    actorId: personId,
    operation,
    entityType: 'person',
    entityId: personId,
    outcome: 'success',
    traceId,
  });
}

const noSuchCode = (): Problem =>
  new Problem('session_ended', {
    detail: 'This link was used already, or it is older than five minutes. Make another one.',
  });

export const noSuchSession = (key: string | undefined): Problem =>
  new Problem('session_ended', {
    detail:
      key !== undefined && isSessionKey(key)
        ? 'The session has ended: sign in again.'
        : 'The console takes the key of a session and no other: sign in.',
  });
