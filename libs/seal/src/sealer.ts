import { randomBytes, randomUUID } from 'node:crypto';
import { Problem } from '@glovebox/problems';
import { decrypt, encrypt, SealBroken, type Place } from './envelope';
import { UnknownMasterKey, type KeyRing } from './key-ring';

/** A data key as it is stored: wrapped by a master key, for one tenant and period. */
export interface WrappedDataKey {
  readonly id: string;
  readonly tenantId: string;
  /** A month for sealing (`2026-11`), or the name of a key that is never replaced. */
  readonly period: string;
  readonly masterVersion: number;
  readonly wrapped: Buffer;
}

/** A data key to store, wrapped by the master key that seals at that moment. */
interface DataKeyCandidate {
  readonly id: string;
  readonly tenantId: string;
  readonly period: string;
  readonly newestVersion: number;
  wrap(masterVersion: number): Buffer;
}

export interface DataKeyStore {
  byId(id: string): Promise<WrappedDataKey | undefined>;
  /** Stores the key unless the tenant has one for the period, and returns the one that counts. */
  claim(candidate: DataKeyCandidate): Promise<WrappedDataKey>;
  /**
   * The master key that seals, for all processes. A new installation takes the newest of its first.
   */
  sealingVersion(newestVersion: number): Promise<number>;
  /** Returns those of the master keys that stored values name. */
  neededOf(masterVersions: readonly number[]): Promise<readonly number[]>;
}

/** Owner of the installation's own keys. It is no tenant. */
const systemTenantId = '00000000-0000-0000-0000-000000000000';
const sealedByDataKey = 1;
const sealedByRing = 2;
/** Formats are counted up. Nothing but damage makes a first byte above these. */
const highestFormat = 15;
const dataKeyHeaderBytes = 17;
const ringHeaderBytes = 5;

/**
 * A newer release sealed the value, unless its first byte is damaged. Another process may open it.
 */
export class UnknownSealFormat extends Problem {
  constructor(format: number) {
    super('service_unavailable', { retryAfterSeconds: 1 });
    this.name = 'UnknownSealFormat';
    this.message = `A sealed value has the format ${format}, which this process does not know`;
  }
}

function unopenable(sealed: Buffer): Error {
  const format = sealed[0] ?? 0;
  const isNewer = format > sealedByRing && format <= highestFormat;
  return isNewer ? new UnknownSealFormat(format) : new SealBroken();
}

/** Seals and opens stored values. A process fetches each data key once, and keeps no values. */
export class Sealer {
  /** Fetched data keys, by the bytes of their ids. */
  readonly #atHand = new Map<string, Buffer>();
  readonly #fetched = new Map<string, Promise<Buffer>>();
  readonly #current = new Map<string, Promise<{ id: string; key: Buffer }>>();

  constructor(
    private readonly ring: KeyRing,
    private readonly store: DataKeyStore,
    private readonly now: () => Date = () => new Date(),
  ) {}

  async seal(place: Place, plaintext: string | Uint8Array): Promise<Buffer> {
    const period = this.now().toISOString().slice(0, 7);
    const { id, key } = await this.#currentKey(place.tenantId, period);
    return encrypt(key, dataKeyHeader(id), place, bytesOf(plaintext));
  }

  async open(place: Place, sealed: Buffer): Promise<Buffer> {
    return this.openNow(place, sealed) ?? this.#openFetched(place, sealed);
  }

  /** Opens the value without a wait. Undefined: its data key was not fetched yet. */
  openNow(place: Place, sealed: Buffer): Buffer | undefined {
    if (sealed[0] !== sealedByDataKey || sealed.length < dataKeyHeaderBytes) {
      throw unopenable(sealed);
    }
    const key = this.#atHand.get(keyBytesOf(sealed));
    return key && decrypt(key, dataKeyHeaderBytes, place, sealed);
  }

  /** A secret of the installation that no rotation replaces: the key of keyed hashes. */
  async lastingKey(name: string): Promise<Buffer> {
    return (await this.#currentKey(systemTenantId, name)).key;
  }

  /**
   * Throws if the ring lacks the master key that seals, or an older one that stored values need.
   */
  async requireMasterKeys(): Promise<void> {
    const { newestVersion, versions, missing } = this.ring;
    const sealing = await this.store.sealingVersion(newestVersion);
    if (!versions.has(sealing)) throw new UnknownMasterKey(sealing);
    // A version may come from a damaged header, which can name any. Then no key is missing.
    const met = [...missing].filter((version) => version > 0 && version < sealing);
    if (met.length === 0) return;
    const [needed] = await this.store.neededOf(met);
    if (needed !== undefined) throw new UnknownMasterKey(needed);
    for (const version of met) missing.delete(version);
  }

  /**
   * For health: `down` only if the ring is known to be wrong. A store that is away says nothing of
   * it.
   */
  masterKeys(withinMs: number): Promise<'up' | 'down'> {
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve('up'), withinMs);
      this.requireMasterKeys()
        .then(() => resolve('up'))
        .catch((error: unknown) => resolve(error instanceof UnknownMasterKey ? 'down' : 'up'))
        .finally(() => clearTimeout(late));
    });
  }

  #currentKey(tenantId: string, period: string): Promise<{ id: string; key: Buffer }> {
    return remember(this.#current, `${tenantId}/${period}`, async () => {
      const id = randomUUID();
      const key = randomBytes(32);
      const stored = await this.store.claim({
        id,
        tenantId,
        period,
        newestVersion: this.ring.newestVersion,
        wrap: (version) => sealWithRing(this.ring, version, dataKeyPlace(id, tenantId), key),
      });
      return { id: stored.id, key: this.#unwrap(stored) };
    });
  }

  async #openFetched(place: Place, sealed: Buffer): Promise<Buffer> {
    const bytes = keyBytesOf(sealed);
    const key = await remember(this.#fetched, bytes, async () => {
      const stored = await this.store.byId(uuidOf(sealed.subarray(1, dataKeyHeaderBytes)));
      if (!stored) throw new SealBroken();
      const fetched = this.#unwrap(stored);
      this.#atHand.set(bytes, fetched);
      return fetched;
    });
    return decrypt(key, dataKeyHeaderBytes, place, sealed);
  }

  #unwrap({ id, tenantId, wrapped }: WrappedDataKey): Buffer {
    return openWithRing(this.ring, dataKeyPlace(id, tenantId), wrapped);
  }
}

/** Wraps a data key by another master key. Values that it sealed stay as they are. */
export function rewrapDataKey(ring: KeyRing, version: number, stored: WrappedDataKey): Buffer {
  const place = dataKeyPlace(stored.id, stored.tenantId);
  return sealWithRing(ring, version, place, openWithRing(ring, place, stored.wrapped));
}

/** Seals by the ring itself, for values that must open without the database. */
export function sealWithRing(
  ring: KeyRing,
  version: number,
  place: Place,
  plaintext: string | Uint8Array,
): Buffer {
  const header = Buffer.alloc(ringHeaderBytes);
  header[0] = sealedByRing;
  header.writeUInt32BE(version, 1);
  const key = ring.derive(version, place.table, place.tenantId);
  return encrypt(key, header, place, bytesOf(plaintext));
}

export function openWithRing(ring: KeyRing, place: Place, sealed: Buffer): Buffer {
  const version = masterVersionOf(sealed);
  if (version === undefined) throw unopenable(sealed);
  const key = ring.derive(version, place.table, place.tenantId);
  return decrypt(key, ringHeaderBytes, place, sealed);
}

/** The version of the master key that sealed the value. Undefined: no ring sealed it. */
export function masterVersionOf(sealed: Buffer): number | undefined {
  if (sealed[0] !== sealedByRing || sealed.length < ringHeaderBytes) return undefined;
  return sealed.readUInt32BE(1);
}

function dataKeyPlace(id: string, tenantId: string): Place {
  return { table: 'data_keys', column: 'wrapped', tenantId, record: id };
}

function dataKeyHeader(id: string): Buffer {
  return Buffer.concat([Buffer.of(sealedByDataKey), Buffer.from(id.replaceAll('-', ''), 'hex')]);
}

/** The id of the data key that sealed the value: sixteen bytes, one character each. */
function keyBytesOf(sealed: Buffer): string {
  return sealed.toString('latin1', 1, dataKeyHeaderBytes);
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function bytesOf(plaintext: string | Uint8Array): Uint8Array {
  return typeof plaintext === 'string' ? Buffer.from(plaintext, 'utf8') : plaintext;
}

/**
 * Callers at the same time share one look-up. A failure is forgotten, so that the next caller tries
 * again.
 */
function remember<Value>(
  known: Map<string, Promise<Value>>,
  name: string,
  make: () => Promise<Value>,
): Promise<Value> {
  const before = known.get(name);
  if (before) return before;
  const made = make();
  known.set(name, made);
  made.catch(() => known.delete(name));
  return made;
}
