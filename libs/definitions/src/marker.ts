import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Redis } from 'ioredis';
import type { Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { KeyRing } from '@glovebox/seal';
import { formatHead, listLog, parseHead, type LogHead, type LogList } from './log';

/** The database that a log is in. A standby that is promoted has a new timeline. */
export interface Origin {
  /** System identifier of the server, and oid of the database. */
  readonly place: string;
  readonly timeline: number;
}

/** How far a log was seen. Of two readings of a database, the later one is lower in neither. */
export interface Seen extends LogHead {
  /** Raised each second by workers: it tells of the rows that no version tells of. */
  readonly pulse: number;
}

/** What was seen of a log, and where: docs/adr/0085. */
export interface Marker extends Origin {
  readonly seen: Seen;
}

/**
 * Why a database is not trusted. `copied`: it was written in another place. `older`: it lacks what
 * was seen on the same timeline, or before all processes ended. `unseen`: nobody saw what it had
 * before its new timeline. `other`: it does not know an epoch that was seen.
 */
type Distrust = 'copied' | 'older' | 'unseen' | 'other';

/** An operator has to decide: `after-restore`. */
export class DatabaseWasRestored extends Error {
  constructor(readonly code: Distrust) {
    super('This database was restored, or lost what was seen of it');
    this.name = 'DatabaseWasRestored';
  }
}

export const markerKey = (installation: string): string =>
  `{glovebox}:definitions:marker:${installation}`;

/** Of an epoch, the newest marker stays. */
const raiseScript = `
local kept = redis.call('GET', KEYS[1]) or ''
local epoch, version, pulse = string.match(kept, '^(%S+):(%d+) %S+ %d+ (%d+) ')
if epoch == ARGV[1]
  and (tonumber(version) > tonumber(ARGV[2]) or tonumber(pulse) > tonumber(ARGV[3])) then
  return
end
redis.call('SET', KEYS[1], ARGV[4])
`;

/** What a follower does with a list: takes it, also under another epoch, or asks for a new one. */
type Verdict = 'take' | 'take as continued' | 'ask';

/** Judges whether the database that answers is the one that this process, or one before it, saw. */
export class DatabaseMarker {
  /** What this process has applied. */
  #own: Marker | undefined;
  /** What processes left in Redis, as read before the list. It is used once. */
  #kept: { readonly marker: Marker | undefined } | undefined;
  #isCompared = false;
  /** What this process told Redis last. */
  #told: Seen | undefined;

  constructor(
    private readonly options: {
      readonly sql: Sql;
      readonly redis: Redis;
      readonly ring: KeyRing;
      readonly onFault: (error: unknown) => void;
    },
  ) {}

  /** Throws a Problem while an operator has to decide. */
  async judge(list: LogList): Promise<Verdict> {
    const own = this.#own;
    if (this.#isCompared && isSame(list.here, list.written) && own && continues(own, list)) {
      return 'take';
    }
    // Redis may know of a version that was committed after this list.
    if (!this.#kept && (await this.#readKept(list.installation))) return 'ask';
    const kept = this.#kept;
    this.#kept = undefined;
    const verdict = await this.#decide(list, own, kept?.marker);
    if (kept && verdict !== 'ask') this.#isCompared = true;
    return verdict;
  }

  async #decide(list: LogList, own?: Marker, kept?: Marker): Promise<Verdict> {
    const { here, written, seen: now } = list;
    if (written.place !== here.place || written.timeline > here.timeline) throw distrust('copied');
    const markers = [own, kept].filter((marker) => marker !== undefined);
    for (const marker of markers.filter(({ seen }) => seen.epoch === now.epoch)) {
      if (marker.place !== here.place) throw distrust('copied');
      if (marker.timeline > here.timeline) throw distrust('older');
      const mayHaveLost = marker.timeline < here.timeline && own !== undefined;
      if (isLess(now, marker.seen) && !mayHaveLost) throw distrust('older');
    }
    let isContinued = false;
    for (const { seen } of markers.filter(({ seen }) => seen.epoch !== now.epoch)) {
      const end = await this.#endOf(seen.epoch);
      if (!end) throw distrust('other');
      if (!end.lost && isLess(end, seen)) {
        await this.#followPromotion([seen]);
        return 'ask';
      }
      isContinued ||= seen === own?.seen && !end.lost;
    }
    if (here.timeline > written.timeline) {
      const ofEpoch = markers.filter(({ seen }) => seen.epoch === now.epoch);
      if (ofEpoch.length === 0) throw distrust('unseen');
      await this.#followPromotion(ofEpoch.map(({ seen }) => seen));
      return 'ask';
    }
    return isContinued ? 'take as continued' : 'take';
  }

  /**
   * Remembers what this process has applied, and tells Redis. Nobody waits for it. What others left
   * there is compared first: it may be all that knows of an epoch.
   */
  applied({ here, seen, installation }: LogList): void {
    this.#own = { ...here, seen };
    const told = this.#told;
    if (!this.#isCompared || (told?.epoch === seen.epoch && !isLess(told, seen))) return;
    this.#told = seen;
    writeMarker(this.options, installation, this.#own).catch(this.options.onFault);
  }

  /** False while Redis does not answer. */
  async #readKept(installation: string): Promise<boolean> {
    const { redis, ring, onFault } = this.options;
    try {
      await connected(redis);
      this.#kept = { marker: await readMarker({ redis, ring }, installation) };
      return true;
    } catch (error) {
      onFault(error);
      return false;
    }
  }

  async #endOf(epoch: string): Promise<(Seen & { readonly lost: boolean }) | undefined> {
    const [row] = await this.options.sql.query<{ version: string; pulse: string; lost: boolean }>(
      'SELECT version, pulse, lost FROM definition_epochs WHERE epoch = $1',
      [epoch],
    );
    return row && { ...row, epoch, version: Number(row.version), pulse: Number(row.pulse) };
  }

  async #followPromotion(seen: readonly Seen[]): Promise<void> {
    const highest = (of: 'version' | 'pulse'): number => Math.max(...seen.map((one) => one[of]));
    await this.options.sql.query('SELECT follow_promotion($1, $2, $3)', [
      seen[0]?.epoch,
      highest('version'),
      highest('pulse'),
    ]);
  }
}

const isLess = (one: Seen, other: Seen): boolean =>
  one.version < other.version || one.pulse < other.pulse;

const distrust = (why: Distrust): Problem =>
  new Problem('service_unavailable', {
    retryAfterSeconds: 1,
    cause: new DatabaseWasRestored(why),
  });

const isSame = (one: Origin, other: Origin): boolean =>
  one.place === other.place && one.timeline === other.timeline;

const continues = (marker: Marker, { here, seen }: LogList): boolean =>
  isSame(marker, here) && marker.seen.epoch === seen.epoch && !isLess(seen, marker.seen);

const connectedWithinMs = 1_000;

/** A process that starts has a client that is not connected yet. */
async function connected(redis: Redis): Promise<void> {
  if (redis.status !== 'connecting' && redis.status !== 'connect') return;
  await once(redis, 'ready', { signal: AbortSignal.timeout(connectedWithinMs) });
}

interface MarkerStores {
  readonly redis: Redis;
  readonly ring: KeyRing;
}

export async function writeMarker(
  { redis, ring }: MarkerStores,
  installation: string,
  marker: Marker,
): Promise<void> {
  const { epoch, version, pulse } = marker.seen;
  const text = formatMarker(ring, installation, marker);
  await redis.call('EVAL', raiseScript, 1, markerKey(installation), epoch, version, pulse, text);
}

/** Undefined: there is none, or no key of the ring proves it. */
export async function readMarker(
  { redis, ring }: MarkerStores,
  installation: string,
): Promise<Marker | undefined> {
  const stored = await redis.get(markerKey(installation));
  return stored === null ? undefined : parseMarker(ring, installation, stored);
}

/** With a proof by each master key: a program that may write to Redis could stop every process. */
export function formatMarker(ring: KeyRing, installation: string, marker: Marker): string {
  const { place, timeline, seen } = marker;
  const text = `${formatHead(seen)} ${place} ${timeline} ${seen.pulse}`;
  const proofs = [...ring.versions].map(
    (version) => `${version}:${proofOf(ring, version, installation, text).toString('base64')}`,
  );
  return `${text} ${proofs.join(',')}`;
}

export function parseMarker(
  ring: KeyRing,
  installation: string,
  stored: string,
): Marker | undefined {
  const [head = '', place = '', timeline = '', pulse = '', proofs = ''] = stored.split(' ');
  const text = [head, place, timeline, pulse].join(' ');
  const isProven = proofs.split(',').some((proof) => {
    const [version = '', given = ''] = proof.split(':');
    if (!ring.versions.has(Number(version))) return false;
    const expected = proofOf(ring, Number(version), installation, text);
    const bytes = Buffer.from(given, 'base64');
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
  const parsed = parseHead(head);
  if (!parsed || !isProven) return undefined;
  return { place, timeline: Number(timeline), seen: { ...parsed, pulse: Number(pulse) } };
}

const proofOf = (ring: KeyRing, version: number, installation: string, text: string): Buffer =>
  createHmac('sha256', ring.derive(version, 'definitions in Redis: marker', installation))
    .update(text)
    .digest();

/** Tells readers that the database goes on. All workers together raise it once a second. */
export async function raisePulse(sql: Sql): Promise<void> {
  await sql.query('SELECT raise_pulse()');
}

/** Why nothing is served from a database, as far as Postgres and Redis tell. */
export interface Standing {
  /** `served`: nothing speaks against it. `promoted`: its timeline is new. */
  readonly verdict: 'served' | 'promoted' | Distrust;
  readonly has: Seen;
  /** What processes left in Redis. Undefined: nothing, or Redis does not answer. */
  readonly seen: Seen | undefined;
}

export async function standingOf(sql: Sql, stores: MarkerStores): Promise<Standing> {
  const { installation } = await listLog(sql, Number.MAX_SAFE_INTEGER);
  const kept = await readMarker(stores, installation).catch(() => undefined);
  // After Redis: of what is in Redis, Postgres has everything.
  const list = await listLog(sql, Number.MAX_SAFE_INTEGER);
  return { verdict: await verdictOn(sql, list, kept), has: list.seen, seen: kept?.seen };
}

async function verdictOn(
  sql: Sql,
  { here, written, seen: has }: LogList,
  kept: Marker | undefined,
): Promise<Standing['verdict']> {
  if (written.place !== here.place || written.timeline > here.timeline) return 'copied';
  const isNew = written.timeline < here.timeline;
  if (!kept) return isNew ? 'unseen' : 'served';
  if (kept.seen.epoch === has.epoch) {
    if (kept.place !== here.place) return 'copied';
    if (kept.timeline > here.timeline || isLess(has, kept.seen)) return 'older';
    return isNew ? 'promoted' : 'served';
  }
  const known = await sql.query('SELECT FROM definition_epochs WHERE epoch = $1', [
    kept.seen.epoch,
  ]);
  if (known.length === 0) return 'other';
  return isNew ? 'unseen' : 'served';
}

/** Keeps every process from serving from the database, and from its queues, until it is accepted. */
export async function lockDatabase(sql: Sql): Promise<void> {
  await sql.query(`UPDATE definition_head SET place = 'not accepted', holds = true`);
}

/** Puts the marker of an accepted database in the place of any other. */
export async function tellMarker(
  { redis, ring }: MarkerStores,
  { installation, marker }: { readonly installation: string; readonly marker: Marker },
): Promise<void> {
  await redis.set(markerKey(installation), formatMarker(ring, installation, marker));
}

/**
 * Makes the database that answers the one to serve from, in a new epoch. Only its owner may. `lost`:
 * it may lack what processes have seen, and they forget it.
 */
export async function acceptDatabase(
  sql: Sql,
  { lost }: { readonly lost: boolean },
): Promise<{ readonly installation: string; readonly marker: Marker }> {
  const [row] = await sql.query<
    Origin & { installation: string; epoch: string; version: string; pulse: string }
  >(
    `WITH before AS (
       INSERT INTO definition_epochs (epoch, version, pulse, lost)
       SELECT epoch, version, pulse, $1 FROM definition_head, database_pulse),
     head AS (
       UPDATE definition_head SET epoch = gen_random_uuid(), holds = false,
         (place, timeline) = (SELECT place, timeline FROM this_database())
       RETURNING *)
     SELECT installation, epoch, version, place, timeline, pulse FROM head, database_pulse`,
    [lost],
  );
  if (!row) throw new Error('The definition log has no head');
  const { installation, place, timeline, epoch, version, pulse } = row;
  const seen = { epoch, version: Number(version), pulse: Number(pulse) };
  return { installation, marker: { place, timeline, seen } };
}
