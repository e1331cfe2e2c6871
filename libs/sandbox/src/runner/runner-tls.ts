import { hkdfSync } from 'node:crypto';

/** Both sides have the same key instead of certificates (docs/adr/0036-callers-and-runners-prove-themselves-by-a-key.md). */
export const runnerTls = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  // Node takes keys of its own for suites with SHA-256 alone, and asks for them if PSK is named.
  ciphers: 'TLS_AES_128_GCM_SHA256:PSK',
} as const;

interface TlsKey {
  /** Tells keys apart. It is sent in the clear and does not lead back to the secret. */
  readonly identity: string;
  readonly psk: Buffer;
}

/** The key of TLS that belongs to a secret of the deployment. */
export function tlsKeyOf(secret: string): TlsKey {
  const derive = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `glovebox runner, tls 1.3, ${purpose}`, bytes));
  return { identity: derive('identity', 16).toString('hex'), psk: derive('key', 32) };
}
