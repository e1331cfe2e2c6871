import { hash } from 'node:crypto';
import {
  cachedDefinitions,
  listLog,
  openDefinition,
  readCachedPayloads,
  readPayloads,
  type Definition,
} from '@glovebox/definitions';
import type { RestoreContext } from './context';

type Named = Pick<Definition, 'kind' | 'id' | 'tenantId'>;

/** An application whose keys are others in Redis than in the database. */
interface ChangedKeys {
  readonly applicationId: string;
  readonly tenantId: string;
  /** Keys that the newer state lacks: they were ended, and work again. */
  readonly workAgain: readonly string[];
  /** Keys that the database lacks: they do not work any more. */
  readonly lost: readonly string[];
}

/** Things of which the first are listed. */
interface Counted<Thing> {
  readonly count: number;
  readonly first: readonly Thing[];
}

/** How definitions in Redis differ from those of the database. Redis has them for a day at most. */
export interface Changes {
  readonly inRedis: number;
  readonly keys: Counted<ChangedKeys>;
  /** Other states in Redis. */
  readonly changed: Counted<Named>;
  /** Redis lacks them: they were deleted, or never read since the cache began. */
  readonly missing: Counted<Named>;
  /** The database lacks them: they were made after it was copied. */
  readonly lost: Counted<{ readonly kind: string; readonly id: string }>;
}

const listedMax = 100;
const entriesAtOnce = 50;

class List<Thing> implements Counted<Thing> {
  count = 0;
  readonly first: Thing[] = [];

  add(thing: Thing): void {
    this.count += 1;
    if (this.first.length < listedMax) this.first.push(thing);
  }
}

/** Compares the cache in Redis with the log, a part at a time. Throws where Redis does not answer. */
export async function whatChanged(ctx: RestoreContext): Promise<Changes> {
  const { database, redis } = ctx;
  const changes = {
    inRedis: 0,
    keys: new List<ChangedKeys>(),
    changed: new List<Named>(),
    missing: new List<Named>(),
    lost: new List<{ kind: string; id: string }>(),
  };
  for (let after = 0; ;) {
    const { entries, upTo, head } = await listLog(database, after, entriesAtOnce);
    const cached = await readCachedPayloads(redis, entries);
    for (const [at, entry] of entries.entries()) {
      const payload = cached[at];
      const { kind, id, tenantId } = entry;
      if (!entry.digest || (payload && entry.digest.equals(hash('sha256', payload, 'buffer')))) {
        continue;
      }
      if (!payload) {
        changes.missing.add({ kind, id, tenantId });
        continue;
      }
      changes.changed.add({ kind, id, tenantId });
      if (kind !== 'application') continue;
      const keys = await changedKeys(ctx, { kind, id, tenantId }, entry.version, payload);
      if (keys) changes.keys.add(keys);
    }
    if (upTo === head.version) break;
    after = upTo;
  }
  for await (const cached of cachedDefinitions(redis)) {
    changes.inRedis += cached.length;
    for (const name of await notInLog(ctx, cached)) changes.lost.add(name);
  }
  return changes;
}

/** Undefined: the keys are the same, or one of the states cannot be opened. */
async function changedKeys(
  { database, ring }: RestoreContext,
  name: Named,
  version: number,
  cached: Buffer,
): Promise<ChangedKeys | undefined> {
  const stored = (await readPayloads(database, [version])).get(version);
  if (!stored) return undefined;
  try {
    const [before, after] = [stored, cached].map((payload) => {
      const definition = openDefinition(ring, { ...name, payload });
      return definition.kind === 'application' ? definition.keys.map(({ id }) => id) : [];
    });
    const workAgain = before?.filter((id) => !after?.includes(id)) ?? [];
    const lost = after?.filter((id) => !before?.includes(id)) ?? [];
    if (workAgain.length + lost.length === 0) return undefined;
    return { applicationId: name.id, tenantId: name.tenantId, workAgain, lost };
  } catch {
    return undefined;
  }
}

async function notInLog(
  { database }: RestoreContext,
  names: readonly { readonly kind: string; readonly id: string }[],
): Promise<readonly { kind: string; id: string }[]> {
  return database.query(
    `SELECT cached.kind, cached.id FROM unnest($1::text[], $2::text[]) AS cached (kind, id)
     WHERE NOT EXISTS (SELECT FROM definition_log l
       WHERE l.kind = cached.kind AND l.id::text = cached.id AND l.payload IS NOT NULL)`,
    [names.map(({ kind }) => kind), names.map(({ id }) => id)],
  );
}
