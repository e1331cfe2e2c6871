import { createHash } from 'node:crypto';
import type { Database } from '@glovebox/database';
import type { RunnableCode } from '@glovebox/definitions';
import { codeIdOf, readCodeText } from '@glovebox/runs';
import type { Sealer } from '@glovebox/seal';

/** Opened texts that a process keeps. */
export const keptBytesMax = 64 * 1024 * 1024;
/** Of one tenant. */
const keptOfTenantMax = keptBytesMax / 2;

interface Kept {
  readonly tenantId: string;
  readonly text: Buffer;
}

/**
 * Reads bundles for runners that lack them, and keeps the ones that were used last. A text is found by
 * tenant and hash: the same text of two tenants is two.
 */
export class Bundles {
  /** The one that was used last is the last one. */
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<Buffer>>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(
    private readonly database: Pick<Database, 'shareOf'>,
    private readonly sealer: Sealer,
  ) {}

  get state(): { readonly texts: number; readonly bytes: number } {
    return { texts: this.#kept.size, bytes: this.#bytes };
  }

  async read(tenantId: string, hash: string): Promise<string> {
    const key = `${tenantId} ${hash}`;
    const kept = this.#kept.get(key);
    if (kept) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept.text.toString('utf8');
    }
    let reading = this.#reading.get(key);
    if (!reading) {
      reading = this.#fetch(tenantId, hash).finally(() => this.#reading.delete(key));
      this.#reading.set(key, reading);
    }
    return (await reading).toString('utf8');
  }

  async #fetch(tenantId: string, hash: string): Promise<Buffer> {
    const sql = this.database.shareOf(tenantId);
    const text = await readCodeText(sql, this.sealer, tenantId, codeIdOf(hash) ?? '');
    if (text === undefined) throw new Error('A bundle that is in force has no text');
    // Texts are kept by half of their hash.
    if (createHash('sha256').update(text).digest('hex') !== hash) {
      throw new Error('A bundle that is in force has another hash');
    }
    this.#keep(`${tenantId} ${hash}`, { tenantId, text });
    return text;
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.set(key, kept);
    this.#count(kept, 1);
    const { tenantId } = kept;
    for (const [oldest, one] of this.#kept) {
      const isTooMuch = this.#bytes > keptBytesMax;
      const isTooMuchOfOne = (this.#bytesOf.get(tenantId) ?? 0) > keptOfTenantMax;
      if (!isTooMuch && !isTooMuchOfOne) break;
      if (!isTooMuch && one.tenantId !== tenantId) continue;
      this.#kept.delete(oldest);
      this.#count(one, -1);
    }
  }

  #count({ tenantId, text }: Kept, sign: 1 | -1): void {
    const bytes = (this.#bytesOf.get(tenantId) ?? 0) + sign * text.length;
    if (bytes === 0) this.#bytesOf.delete(tenantId);
    else this.#bytesOf.set(tenantId, bytes);
    this.#bytes += sign * text.length;
  }
}

/** The bundle of one run. Nobody reads it unless a runner lacks it. */
export class AskedBundle {
  #fault: { readonly error: unknown } | undefined;

  constructor(private readonly find: () => Promise<string>) {}

  readonly read = async (): Promise<string> => {
    try {
      return await this.find();
    } catch (error) {
      this.#fault = { error };
      throw error;
    }
  };

  /** True if the run ended because its code could not be read: nothing has started. */
  get isMissing(): boolean {
    return this.#fault !== undefined;
  }

  /** Throws why there was no code, if there was none. */
  requireRead(): void {
    if (this.#fault) throw this.#fault.error;
  }
}

/** Undefined: the definition has the code. */
export const askedBundle = (
  bundles: Pick<Bundles, 'read'>,
  tenantId: string,
  { bundleHash }: RunnableCode,
): AskedBundle | undefined =>
  bundleHash === undefined ? undefined : new AskedBundle(() => bundles.read(tenantId, bundleHash));
