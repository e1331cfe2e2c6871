import { createHmac } from 'node:crypto';
import type { Sealer } from '@glovebox/seal';

/** What is kept of data so that it can be found again: hashes under keys that the database never sees. */
export class KeyedHashes {
  constructor(private readonly sealer: Sealer) {}

  /** The same for the same tenant, type and data, however the data was written. */
  async fingerprint(tenantId: string, type: string, of: 'data' | 'expression', value: unknown) {
    return this.#hash('token-fingerprint', [tenantId, type, of, canonical(value)]);
  }

  /** What stands for a text that a token is to be found by. */
  async dataTerm(tenantId: string, text: string): Promise<string> {
    return this.#hash('token-terms', [tenantId, 'data', text]);
  }

  async metadataTerm(tenantId: string, name: string, value: string): Promise<string> {
    return this.#hash('token-terms', [tenantId, 'metadata', name, value]);
  }

  async #hash(keyName: string, parts: readonly string[]): Promise<string> {
    const key = await this.sealer.lastingKey(keyName);
    // As JSON no two lists of parts have one text.
    return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
  }
}

/** JSON with the members of each object in order. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
