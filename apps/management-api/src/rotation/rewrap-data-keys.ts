import {
  dataKeysBelow,
  replaceWrappedKeys,
  sealingVersion,
  type Database,
  type Sql,
} from '@glovebox/database';
import { rewrapDataKey, UnknownMasterKey, type KeyRing, type WrappedDataKey } from '@glovebox/seal';

interface Rewrapped {
  readonly rewrapped: number;
  /** Keys that no master key opens. They are left unchanged. */
  readonly damaged: number;
}

const partSize = 200;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/** Wraps every data key by the current sealing key. Data keys and sealed values do not change. */
export async function rewrapDataKeys(database: Database, ring: KeyRing): Promise<Rewrapped> {
  let after = beforeAll;
  let done: Rewrapped = { rewrapped: 0, damaged: 0 };
  for (;;) {
    const part = await database.transaction((sql) => rewrapPart(sql, ring, after));
    done = { rewrapped: done.rewrapped + part.rewrapped, damaged: done.damaged + part.damaged };
    if (part.last === undefined) return done;
    after = part.last;
  }
}

async function rewrapPart(
  sql: Sql,
  ring: KeyRing,
  after: string,
): Promise<Rewrapped & { last: string | undefined }> {
  const sealing = await sealingVersion(sql, ring.newestVersion);
  const keys = await dataKeysBelow(sql, sealing, after, partSize);
  const replaced = keys.flatMap((key) => {
    const wrapped = tryToRewrap(ring, sealing, key);
    return wrapped ? [{ id: key.id, was: key.wrapped, wrapped }] : [];
  });
  const rewrapped = await replaceWrappedKeys(sql, sealing, replaced);
  return { rewrapped, damaged: keys.length - replaced.length, last: keys.at(-1)?.id };
}

function tryToRewrap(ring: KeyRing, sealing: number, key: WrappedDataKey): Buffer | undefined {
  try {
    return rewrapDataKey(ring, sealing, key);
  } catch (error) {
    if (error instanceof UnknownMasterKey) throw error;
    return undefined;
  }
}
