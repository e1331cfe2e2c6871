import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 27;
const checksumLength = 6;
const shape = new RegExp(`^(?:key|ses)_[0-9A-Za-z]{${randomLength + checksumLength}}$`);

export const generateApiKey = (): string => generateKey('key_');

/** Tells a mistyped key without a look-up. */
export const isApiKey = (text: string): boolean => isKey('key_', text);

/** The key of a session of the console. */
export const generateSessionKey = (): string => generateKey('ses_');

export const isSessionKey = (text: string): boolean => isKey('ses_', text);

/**
 * A secret of 27 base62 characters (160 bits), and a checksum of six that tells a typo from a key.
 */
function generateKey(prefix: 'key_' | 'ses_'): string {
  const secret = randomBase62(randomLength);
  return `${prefix}${secret}${checksum(secret)}`;
}

function isKey(prefix: 'key_' | 'ses_', text: string): boolean {
  if (!text.startsWith(prefix) || !shape.test(text)) return false;
  const checksumAt = text.length - checksumLength;
  return text.slice(checksumAt) === checksum(text.slice(4, checksumAt));
}

/** Makes 22 base62 characters: 130 bits. */
export function generateProxyKey(): string {
  return randomBase62(22);
}

export function isProxyKey(text: string): boolean {
  return /^[0-9A-Za-z]{22}$/.test(text);
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte: anything above would favour some characters.
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62];
    }
  }
  return text;
}

function checksum(secret: string): string {
  let rest = crc32(secret);
  let text = '';
  for (let i = 0; i < checksumLength; i += 1) {
    text = (alphabet[rest % 62] ?? '') + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
