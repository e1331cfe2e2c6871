import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { Certificate } from './certificate-files';

export interface Authority {
  readonly ca: string;
  /** For names such as `DNS:dest.test` and `IP:127.0.0.1`. */
  issue(...names: string[]): Certificate;
  /** Valid between two times, both in milliseconds from now. */
  issueFor(validity: Validity, ...names: string[]): Certificate;
  /** A certificate that no authority but its own key has signed. */
  selfSigned(...names: string[]): Certificate;
}

interface Validity {
  readonly from: number;
  readonly until: number;
}

const now: Validity = { from: -3_600_000, until: 48 * 3_600_000 };

/**
 * A temporary certificate authority, so that no key is ever stored. Node can sign but not write a
 * certificate, and not every machine has openssl: the bytes of X.509 are put together here.
 */
export function createAuthority(): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = 'authority of a spec';
  const certify = (
    subject: string,
    publicKey: KeyObject,
    extensions: Buffer,
    { from, until } = now,
    signedBy = { name: issuer, key: own.privateKey },
  ): string => {
    const toBeSigned = sequence(
      tagged(0xa0, integer(Buffer.of(2))),
      integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
      ecdsaWithSha256,
      commonName(signedBy.name),
      sequence(time(from), time(until)),
      commonName(subject),
      publicKey.export({ type: 'spki', format: 'der' }),
      tagged(0xa3, sequence(extensions)),
    );
    const signature = sign('sha256', toBeSigned, signedBy.key);
    return pem(sequence(toBeSigned, ecdsaWithSha256, bits(signature)));
  };
  const leaf = (names: readonly string[], validity: Validity, isSelfSigned = false) => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const alternatives = sequence(...names.map(alternativeName));
    const extension = sequence(oid('551d11'), octets(alternatives));
    const signedBy = isSelfSigned ? { name: 'leaf', key: privateKey } : undefined;
    return {
      cert: certify('leaf', publicKey, extension, validity, signedBy),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
  };
  const isAuthority = tagged(0x30, oid('551d13'), octets(sequence(Buffer.of(0x01, 1, 0xff))));
  return {
    ca: certify(issuer, own.publicKey, isAuthority),
    issue: (...names) => leaf(names, now),
    issueFor: (validity, ...names) => leaf(names, validity),
    selfSigned: (...names) => leaf(names, now, true),
  };
}

// The parts of DER that a certificate needs.

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

const sequence = (...parts: Buffer[]): Buffer => tagged(0x30, ...parts);
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
const octets = (content: Buffer): Buffer => tagged(0x04, content);
const bits = (content: Buffer): Buffer => tagged(0x03, Buffer.of(0), content);
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

function commonName(text: string): Buffer {
  const name = sequence(oid('550403'), tagged(0x0c, Buffer.from(text)));
  return sequence(tagged(0x31, name));
}

/** A UTCTime so many milliseconds from now. */
function time(fromNowMs: number): Buffer {
  const text = new Date(Date.now() + fromNowMs).toISOString().replace(/[-:T]/g, '');
  return tagged(0x17, Buffer.from(`${text.slice(2, 14)}Z`));
}

function alternativeName(name: string): Buffer {
  const [kind, value = ''] = name.split(/:(.*)/s);
  if (kind === 'DNS') return tagged(0x82, Buffer.from(value));
  if (!isIPv4(value)) throw new Error(`a name that these certificates do not know: ${name}`);
  return tagged(0x87, Buffer.from(value.split('.').map(Number)));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
