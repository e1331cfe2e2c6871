import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** A payload of the definition log: what is sealed there. */
export interface DefinitionPayload {
  readonly v: number;
  readonly recognise: { readonly keys: readonly string[] };
  readonly definition: Readonly<Record<string, unknown>>;
}

/** Format, master version, nonce, tag. */
const [headerBytes, nonceBytes, tagBytes] = [5, 12, 16];
const sealedAt = headerBytes + nonceBytes + tagBytes;

/**
 * Rewrites a definition of the log as another release would, as the newest version of the log. Has
 * the sealed form of its own: nothing of the product can be older or newer than itself.
 */
export async function rewriteDefinition(
  stores: { readonly adminUrl: string; readonly keyRing: string },
  { kind, id }: { readonly kind: string; readonly id: string },
  change: (payload: DefinitionPayload) => DefinitionPayload,
): Promise<void> {
  const client = new Client({ connectionString: stores.adminUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('UPDATE definition_head SET version = version + 1');
    const { rows } = await client.query<{ payload: Buffer; tenantId: string }>(
      `SELECT payload, tenant_id AS "tenantId" FROM definition_log WHERE kind = $1 AND id = $2`,
      [kind, id],
    );
    const [row] = rows;
    if (!row) throw new Error(`there is no ${kind} ${id} in the log`);
    const { payload, tenantId } = row;
    const header = payload.subarray(0, headerBytes);
    const key = keyOf(stores.keyRing, header.readUInt32BE(1), tenantId);
    const parts = ['definition_log', kind, tenantId, id];
    const place = parts.map((part) => `${part.length}:${part}`).join('');
    const bound = Buffer.concat([header, Buffer.from(place)]);
    const opened = JSON.parse(open(key, bound, payload)) as DefinitionPayload;
    await client.query(
      `UPDATE definition_log SET payload = $3, version = (SELECT version FROM definition_head)
       WHERE kind = $1 AND id = $2`,
      [kind, id, seal(key, header, bound, JSON.stringify(change(opened)))],
    );
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

function keyOf(ring: string, version: number, tenantId: string): Buffer {
  const named = ring.split(',').map((entry) => entry.trim().split(':'));
  const master = named.find(([number]) => Number(number) === version)?.[1] ?? '';
  const bytes = Buffer.from(master, 'base64');
  return Buffer.from(hkdfSync('sha256', bytes, tenantId, 'glovebox/definition_log', 32));
}

function open(key: Buffer, bound: Buffer, sealed: Buffer): string {
  const nonce = sealed.subarray(headerBytes, headerBytes + nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
    .setAAD(bound)
    .setAuthTag(sealed.subarray(headerBytes + nonceBytes, sealedAt));
  return `${decipher.update(sealed.subarray(sealedAt), undefined, 'utf8')}${decipher.final('utf8')}`;
}

function seal(key: Buffer, header: Buffer, bound: Buffer, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound);
  const ciphertext = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([header, nonce, cipher.getAuthTag(), ciphertext]);
}
