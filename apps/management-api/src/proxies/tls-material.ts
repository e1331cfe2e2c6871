import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { TlsDefinition } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import type { Place, Sealer } from '@glovebox/seal';

interface TlsInput {
  readonly client_certificate?: { readonly certificate: string; readonly private_key?: string };
  readonly certificate_authority?: string;
}

/** Reads the TLS members of a document. Throws for material that would fail every call. */
export function toTls(input: TlsInput, stored: TlsDefinition | null): TlsDefinition | null {
  const { client_certificate: client, certificate_authority: authority } = input;
  if (!client && authority === undefined) return null;
  if (authority !== undefined) checkAuthority(authority);
  return {
    ...(client ? withKey(client, stored) : { certificate: null, privateKey: null }),
    authority: authority ?? null,
  };
}

/** Answers never show the private key: the stored certificate without one keeps its key. */
function withKey(
  { certificate, private_key }: NonNullable<TlsInput['client_certificate']>,
  stored: TlsDefinition | null,
): Pick<TlsDefinition, 'certificate' | 'privateKey'> {
  const kept = certificate === stored?.certificate ? stored.privateKey : null;
  const privateKey = private_key ?? kept;
  if (privateKey === null) throw invalid({ 'client_certificate.private_key': ['is required'] });
  checkClient(certificate, privateKey);
  return { certificate, privateKey };
}

function checkAuthority(authority: string): void {
  if (certificatesIn(authority).length > 0) return;
  throw invalid({ certificate_authority: ['must be one or more certificates in PEM'] });
}

function checkClient(certificate: string, privateKey: string): void {
  const [own] = certificatesIn(certificate);
  const key = keyIn(privateKey);
  if (!own || !key) {
    throw invalid({
      ...(own ? {} : { 'client_certificate.certificate': ['must be a certificate in PEM'] }),
      ...(key
        ? {}
        : { 'client_certificate.private_key': ['must be a private key in PEM, not encrypted'] }),
    });
  }
  if (!own.checkPrivateKey(key)) {
    throw invalid({ 'client_certificate.private_key': ['does not belong to the certificate'] });
  }
  try {
    createSecureContext({ cert: certificate, key: privateKey });
  } catch {
    // For example, our OpenSSL refuses keys that are too short.
    throw invalid({ 'client_certificate.certificate': ['cannot be used for TLS'] });
  }
}

/** Returns all certificates, or none if one of them cannot be read. */
function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return [];
  }
}

function keyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

export function sealTls(sealer: Sealer, place: Place, tls: TlsDefinition): Promise<Buffer> {
  return sealer.seal(place, JSON.stringify(tls));
}

export async function openTls(
  sealer: Sealer,
  place: Place,
  sealed: Buffer,
): Promise<TlsDefinition> {
  return JSON.parse((await sealer.open(place, sealed)).toString('utf8')) as TlsDefinition;
}
