// The parts of DER that a certificate needs.

export function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

export const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts);
export const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
export const octets = (...content: readonly Buffer[]): Buffer => tagged(0x04, ...content);
export const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));
export const yes = Buffer.of(0x01, 1, 0xff);

/** Bits whose last byte is used but for its lowest `unused` bits. */
export const bits = (content: Buffer, unused = 0): Buffer =>
  tagged(0x03, Buffer.of(unused), content);

const lastUtcTime = Date.UTC(2050, 0);

/** A UTCTime, and from 2050 on a GeneralizedTime (RFC 5280, 4.1.2.5). */
export function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return at < lastUtcTime
    ? tagged(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : tagged(0x18, Buffer.from(`${digits}Z`));
}

export function commonName(text: string): Buffer {
  const name = sequence(oid('550403'), tagged(0x0c, Buffer.from(text)));
  return sequence(tagged(0x31, name));
}

export function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
