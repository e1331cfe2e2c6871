import { createHmac } from 'node:crypto';
import type { Sealer } from '@glovebox/seal';

/** Hashes of data, to find it again. Their keys never reach the database. */
export class KeyedHashes {
  constructor(private readonly sealer: Sealer) {}

  /** Equal for equal data of one tenant and type, whatever the order of its members. */
  async fingerprint(tenantId: string, type: string, of: 'data' | 'expression', value: unknown) {
    return this.#hash('token-fingerprint', [tenantId, type, of, canonical(value)]);
  }

  /** Stands for a text that a search finds the token by. */
  async dataTerm(tenantId: string, text: string): Promise<string> {
    return this.#hash('token-terms', [tenantId, 'data', text]);
  }

  async metadataTerm(tenantId: string, name: string, value: string): Promise<string> {
    return this.#hash('token-terms', [tenantId, 'metadata', name, value]);
  }

  async #hash(keyName: string, parts: readonly string[]): Promise<string> {
    const key = await this.sealer.lastingKey(keyName);
    // Two different lists of parts never have the same JSON.
    return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
  }
}

/** Writes JSON with the members of each object in order. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
