import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { isIP } from 'node:net';
import { bits, commonName, integer, octets, oid, pem, sequence, tagged, time, yes } from './der';

/** PEM. Whoever holds the key speaks for every host to those who trust the certificate. */
export interface AuthorityKeys {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface Leaf {
  readonly certificate: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

const day = 24 * 60 * 60_000;
const authorityMs = 10 * 365 * day;
const leafMs = 7 * day;
/** Clocks of clients may be behind ours. */
const earlierMs = day;

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

/** Extensions of RFC 5280, by their numbers below 2.5.29. */
const extension = (number: string, critical: boolean, content: Buffer): Buffer =>
  sequence(oid(`551d${number}`), ...(critical ? [yes] : []), octets(content));

const isNoAuthority = extension('13', true, sequence());
/** With path length 0: it signs certificates of hosts, and none of another authority. */
const isAuthority = extension('13', true, sequence(yes, integer(Buffer.of(0))));
const signsCertificates = extension('0f', true, bits(Buffer.of(0b0000_0110), 1));
const signsHandshakes = extension('0f', true, bits(Buffer.of(0b1000_0000), 7));
const provesServers = extension('25', false, sequence(oid('2b06010505070301')));

/** The first bytes of a hash (RFC 7093, 2). */
const keyIdOf = (publicKey: KeyObject): Buffer =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);

const isOfKey = (keyId: Buffer): Buffer => extension('0e', false, octets(keyId));
const isSignedBy = (keyId: Buffer): Buffer => extension('23', false, sequence(tagged(0x80, keyId)));

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** A new authority, whose name tells which of several one looks at. */
export function createAuthority(name: string, now = Date.now()): AuthorityKeys {
  const { publicKey, privateKey } = newKeys();
  const subject = commonName(name);
  const keyId = keyIdOf(publicKey);
  const { certificate } = certify({
    ...{ issuer: subject, issuerKey: privateKey, subject, publicKey },
    validity: [now - earlierMs, now + authorityMs],
    extensions: [isAuthority, signsCertificates, isOfKey(keyId)],
  });
  return { certificate, privateKey: pemOfKey(privateKey) };
}

/**
 * Signs certificates of hosts by an authority that it has parsed once. Each is for one name or
 * address, with a key of its own.
 */
export class Issuer {
  readonly #key: KeyObject;
  readonly #subject: Buffer;
  readonly #keyId: Buffer;
  readonly #until: number;

  constructor({ certificate, privateKey }: AuthorityKeys) {
    const parsed = new X509Certificate(certificate);
    this.#key = createPrivateKey(privateKey);
    this.#subject = commonName(/^CN=(.*)$/m.exec(parsed.subject)?.[1] ?? '');
    this.#keyId = keyIdOf(createPublicKey(this.#key));
    this.#until = Date.parse(parsed.validTo);
  }

  /** `host`: a name in ASCII without a dot at its end, or an address without brackets. */
  issue(host: string, now = Date.now()): Leaf {
    const { publicKey, privateKey } = newKeys();
    const until = Math.min(now + leafMs, this.#until);
    const { certificate } = certify({
      ...{ issuer: this.#subject, issuerKey: this.#key, publicKey },
      subject: sequence(),
      validity: [now - earlierMs, until],
      extensions: [
        isNoAuthority,
        signsHandshakes,
        provesServers,
        // Critical where the subject is empty (RFC 5280, 4.2.1.6).
        extension('11', true, sequence(alternativeName(host))),
        isSignedBy(this.#keyId),
      ],
    });
    return { certificate, key: pemOfKey(privateKey), until };
  }
}

interface ToCertify {
  readonly issuer: Buffer;
  readonly issuerKey: KeyObject;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly validity: readonly [number, number];
  readonly extensions: readonly Buffer[];
}

function certify({ issuer, issuerKey, subject, publicKey, validity, extensions }: ToCertify) {
  const [from, until] = validity;
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(serialNumber()),
    ecdsaWithSha256,
    issuer,
    sequence(time(from), time(until)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', toBeSigned, issuerKey);
  return { certificate: pem(sequence(toBeSigned, ecdsaWithSha256, bits(signature))) };
}

/** Positive, and never with a byte in front that DER would leave out. */
const serialNumber = (): Buffer => Buffer.concat([Buffer.of(1), randomBytes(15)]);

const pemOfKey = (key: KeyObject): string =>
  key.export({ type: 'pkcs8', format: 'pem' }).toString();

function alternativeName(host: string): Buffer {
  const family = isIP(host);
  if (family === 0) return tagged(0x82, Buffer.from(host, 'ascii'));
  return tagged(0x87, family === 4 ? Buffer.from(host.split('.').map(Number)) : bytesOfIpv6(host));
}

/** Of an address without a zone. */
function bytesOfIpv6(address: string): Buffer {
  const [, dotted] = /:(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? [];
  const tail = dotted?.split('.').map(Number);
  const text = tail
    ? address.replace(dotted ?? '', [0, 2].map((at) => hexOf(tail, at)).join(':'))
    : address;
  const [head = '', rest] = text.split('::');
  const groups = (part: string | undefined): string[] => (part ? part.split(':') : []);
  const [before, after] = [groups(head), groups(rest)];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.concat(
    [...before, ...(rest === undefined ? [] : zeros), ...after].map((group) =>
      Buffer.from(group.padStart(4, '0'), 'hex'),
    ),
  );
}

const hexOf = (bytes: readonly number[], at: number): string =>
  (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16);
