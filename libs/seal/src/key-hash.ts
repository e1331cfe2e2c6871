import { hash } from 'node:crypto';
import type { Sealer } from './sealer';

/** What is stored of an API key or a proxy key. */
export type KeyHash = (key: string) => string;

/**
 * SHA-256 over secret and key. Callers hash keys of one fixed length each, so that appending to a
 * known hash (which bare SHA-256 would allow) never makes the hash of another key; and it costs a
 * fifth of an HMAC on a path that runs once per request.
 */
export async function createKeyHash(sealer: Sealer): Promise<KeyHash> {
  const secret = (await sealer.lastingKey('key-hash')).toString('hex');
  return (key) => hash('sha256', secret + key, 'base64url');
}
