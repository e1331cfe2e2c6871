import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** The place that a sealed value belongs to. It opens nowhere else. */
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
const gcmOptions = { authTagLength: tagBytes };

/**
 * Encrypts by AES-256-GCM: header | nonce | tag | ciphertext, bound to its place and its header.
 */
export function encrypt(key: Buffer, header: Buffer, place: Place, plaintext: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(
    boundTo(header, header.length, place),
  );
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([header, nonce, cipher.getAuthTag(), ciphertext]);
}

export function decrypt(key: Buffer, headerBytes: number, place: Place, sealed: Buffer): Buffer {
  const bodyAt = headerBytes + nonceBytes + tagBytes;
  if (sealed.length < bodyAt) throw new SealBroken();
  const nonce = sealed.subarray(headerBytes, headerBytes + nonceBytes);
  const tag = sealed.subarray(headerBytes + nonceBytes, bodyAt);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, gcmOptions)
    .setAAD(boundTo(sealed, headerBytes, place))
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

/** Each part carries its length, so that no two places have the same text. */
function boundTo(sealed: Buffer, headerBytes: number, at: Place): Buffer {
  const place = `${columnOf(at)}${at.record.length}:${at.record}`;
  const bound = Buffer.allocUnsafe(headerBytes + Buffer.byteLength(place));
  sealed.copy(bound, 0, 0, headerBytes);
  bound.write(place, headerBytes);
  return bound;
}

let lastColumn = { table: '', column: '', tenantId: '', text: '0:0:0:' };

/** Many values of one column and tenant are opened at a time: their text is made once. */
function columnOf({ table, column, tenantId }: Place): string {
  const last = lastColumn;
  if (last.tenantId === tenantId && last.column === column && last.table === table) {
    return last.text;
  }
  const text = `${table.length}:${table}${column.length}:${column}${tenantId.length}:${tenantId}`;
  lastColumn = { table, column, tenantId, text };
  return text;
}
