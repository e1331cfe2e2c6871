import { sealingVersion, type Database, type Sql } from '@glovebox/database';
import { UnknownMasterKey, type KeyRing } from '@glovebox/seal';
import { resealPayload } from './codec';
import type { DefinitionKind } from './definition';

interface Resealed {
  readonly resealed: number;
  /** Entries that no key opens. They stay as they are. */
  readonly damaged: number;
}

interface Entry {
  readonly version: string;
  readonly kind: DefinitionKind;
  readonly id: string;
  readonly tenantId: string;
  readonly payload: Buffer;
}

/** The head of the log is locked for one part at a time: no change of a definition waits longer. */
const partSize = 200;

/**
 * Seals every definition of an older master key by the one that seals now. Each becomes a new
 * version of the log with the same content.
 */
export async function resealDefinitions(database: Database, ring: KeyRing): Promise<Resealed> {
  let after = '0';
  let done: Resealed = { resealed: 0, damaged: 0 };
  for (;;) {
    const part = await database.transaction((sql) => resealPart(sql, ring, after));
    done = { resealed: done.resealed + part.resealed, damaged: done.damaged + part.damaged };
    if (part.last === undefined) return done;
    after = part.last;
  }
}

async function resealPart(
  sql: Sql,
  ring: KeyRing,
  after: string,
): Promise<Resealed & { last: string | undefined }> {
  const sealing = await sealingVersion(sql, ring.newestVersion);
  const entries = await sql.query<Entry>(
    `SELECT version, kind, id, tenant_id AS "tenantId", payload FROM definition_log
     WHERE version > $1 AND master_version_of(payload) < $2 ORDER BY version LIMIT $3`,
    [after, sealing, partSize],
  );
  const replaced = entries.flatMap((entry) => {
    const payload = tryToReseal(ring, sealing, entry);
    return payload ? [{ ...entry, payload }] : [];
  });
  const resealed = await replacePayloads(sql, replaced);
  return { resealed, damaged: entries.length - replaced.length, last: entries.at(-1)?.version };
}

function tryToReseal(ring: KeyRing, sealing: number, entry: Entry): Buffer | undefined {
  try {
    return resealPayload(ring, sealing, entry);
  } catch (error) {
    if (error instanceof UnknownMasterKey) throw error;
    return undefined;
  }
}

/**
 * Leaves alone all that was changed or deleted since it was read: it is newer, and sealed anew
 * already.
 */
async function replacePayloads(sql: Sql, entries: readonly Entry[]): Promise<number> {
  if (entries.length === 0) return 0;
  const replaced = await sql.query(
    `WITH head AS (
       UPDATE definition_head SET version = version + cardinality($1::text[]) RETURNING version
     )
     UPDATE definition_log l
     SET version = head.version - cardinality($1::text[]) + part.place, payload = part.payload
     FROM head, unnest($1::text[], $2::uuid[], $3::bigint[], $4::bytea[])
       WITH ORDINALITY AS part (kind, id, was, payload, place)
     WHERE l.kind = part.kind AND l.id = part.id AND l.version = part.was RETURNING 1`,
    [
      entries.map(({ kind }) => kind),
      entries.map(({ id }) => id),
      entries.map(({ version }) => version),
      entries.map(({ payload }) => payload),
    ],
  );
  return replaced.length;
}
