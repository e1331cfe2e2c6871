import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Where a sealed value belongs. It opens there and nowhere else. */
export interface Place {
  readonly table: string;
  readonly column: string;
  readonly tenantId: string;
  readonly record: string;
}

export class SealBroken extends Error {
  constructor() {
    super('A sealed value could not be opened');
    this.name = 'SealBroken';
  }
}

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM: header | nonce | tag | ciphertext, bound to its place and to its header (the key). */
export function encrypt(key: Buffer, header: Buffer, place: Place, plaintext: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(header, place));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([header, nonce, cipher.getAuthTag(), ciphertext]);
}

export function decrypt(key: Buffer, headerBytes: number, place: Place, sealed: Buffer): Buffer {
  const bodyAt = headerBytes + nonceBytes + tagBytes;
  if (sealed.length < bodyAt) throw new SealBroken();
  const header = sealed.subarray(0, headerBytes);
  const nonce = sealed.subarray(headerBytes, headerBytes + nonceBytes);
  const tag = sealed.subarray(headerBytes + nonceBytes, bodyAt);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(boundTo(header, place))
    .setAuthTag(tag);
  try {
    const plaintext = decipher.update(sealed.subarray(bodyAt));
    // GCM holds nothing back: final() has no more bytes and only judges the tag.
    decipher.final();
    return plaintext;
  } catch {
    throw new SealBroken();
  }
}

/** Unambiguous: each part carries its length, so that no two places share one text. */
function boundTo(header: Buffer, { table, column, tenantId, record }: Place): Buffer {
  const place =
    `${table.length}:${table}${column.length}:${column}` +
    `${tenantId.length}:${tenantId}${record.length}:${record}`;
  const bound = Buffer.allocUnsafe(header.length + Buffer.byteLength(place));
  header.copy(bound);
  bound.write(place, header.length);
  return bound;
}
