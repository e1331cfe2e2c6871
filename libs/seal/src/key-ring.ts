import { hkdfSync } from 'node:crypto';
import { Problem } from '@glovebox/problems';

/** The master keys by version. Each of them opens. The database says which one seals. */
export interface KeyRing {
  readonly versions: ReadonlySet<number>;
  readonly newestVersion: number;
  /** Versions that a sealed value named and this ring lacks. The value may be damaged. */
  readonly missing: Set<number>;
  /** Derives a key for one purpose and tenant from the master key of that version. */
  derive(version: number, purpose: string, tenantId: string): Buffer;
}

/** This process lacks a key that other processes have and can serve with. */
export class UnknownMasterKey extends Problem {
  constructor(version: number) {
    super('service_unavailable', { retryAfterSeconds: 1 });
    this.name = 'UnknownMasterKey';
    this.message = `The key ring has no master key of version ${version}`;
  }
}

/** `1:<base64 of 32 bytes>,2:<base64 of 32 bytes>` */
export function parseKeyRing(text: string): KeyRing {
  const keys = new Map<number, Buffer>();
  for (const part of text.trim().split(/[\s,]+/)) {
    const match = /^([1-9]\d{0,8}):([A-Za-z0-9+/]{43}=)$/.exec(part);
    if (!match) throw new Error('a key ring reads 1:<base64 of 32 bytes>[,2:<base64 of 32 bytes>]');
    const version = Number(match[1]);
    if (keys.has(version)) throw new Error(`the key ring has version ${version} twice`);
    keys.set(version, Buffer.from(match[2] ?? '', 'base64'));
  }
  const derived = new Map<string, Buffer>();
  const missing = new Set<number>();
  return {
    versions: new Set(keys.keys()),
    newestVersion: Math.max(...keys.keys()),
    missing,
    derive(version, purpose, tenantId) {
      const name = `${version}/${purpose}/${tenantId}`;
      const known = derived.get(name);
      if (known) return known;
      const master = keys.get(version);
      if (!master) {
        missing.add(version);
        throw new UnknownMasterKey(version);
      }
      const key = Buffer.from(hkdfSync('sha256', master, tenantId, `glovebox/${purpose}`, 32));
      derived.set(name, key);
      return key;
    },
  };
}
