import { generateKeyPairSync, sign } from 'node:crypto';

/** A self-signed certificate with its key, made without openssl, which not every machine has. */
export function clientCertificate(): { certificate: string; private_key: string; secret: Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, oid('2a8648ce3d040302'));
  const commonName = der(0x30, oid('550403'), der(0x0c, Buffer.from('client')));
  const name = der(0x30, der(0x31, commonName));
  const validity = der(0x30, time(-3_600_000), time(3_600_000));
  const toBeSigned = der(
    0x30,
    der(0x02, Buffer.of(1)),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.of(0), sign('sha256', toBeSigned, privateKey));
  const lines = der(0x30, toBeSigned, algorithm, signature).toString('base64');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    secret: Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url'),
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

/** A UTCTime so many milliseconds from now. */
function time(fromNowMs: number): Buffer {
  const text = new Date(Date.now() + fromNowMs).toISOString().replace(/[-:T]/g, '');
  return der(0x17, Buffer.from(`${text.slice(2, 14)}Z`));
}
