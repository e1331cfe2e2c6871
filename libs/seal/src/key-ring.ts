import { hkdfSync } from 'node:crypto';

/** The master keys by version: the highest seals, each opens. A KMS would stand behind the same shape. */
export interface KeyRing {
  readonly currentVersion: number;
  /** A key for one purpose and tenant, derived from the master key of that version. */
  derive(version: number, purpose: string, tenantId: string): Buffer;
}

export class UnknownMasterKey extends Error {
  constructor(version: number) {
    super(`The key ring has no master key of version ${version}`);
    this.name = 'UnknownMasterKey';
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
  return {
    currentVersion: Math.max(...keys.keys()),
    derive(version, purpose, tenantId) {
      const name = `${version}/${purpose}/${tenantId}`;
      const known = derived.get(name);
      if (known) return known;
      const master = keys.get(version);
      if (!master) throw new UnknownMasterKey(version);
      const key = Buffer.from(hkdfSync('sha256', master, tenantId, `glovebox/${purpose}`, 32));
      derived.set(name, key);
      return key;
    },
  };
}
