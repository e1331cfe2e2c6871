import { X509Certificate } from 'node:crypto';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createAuthority, Issuer, type AuthorityKeys } from './authority';

const day = 24 * 60 * 60_000;
const authority = createAuthority('Glovebox of a spec');
const issuer = new Issuer(authority);
const issued = (host: string, by = issuer) => new X509Certificate(by.issue(host).certificate);

it('an authority is one for hosts alone, and signs nothing of another authority', () => {
  const ca = new X509Certificate(authority.certificate);
  expect(ca.ca).toBe(true);
  expect(ca.subject).toBe('CN=Glovebox of a spec');
  expect(ca.verify(ca.publicKey)).toBe(true);
  // BasicConstraints: CA, path length 0.
  expect(ca.raw.toString('hex')).toContain('551d130101ff040830060101ff020100');
});

it('a certificate is for one host, for seven days, and an authority of nothing', () => {
  const now = Date.now();
  const leaf = issued('api.example.com');
  const ca = new X509Certificate(authority.certificate);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect(leaf.checkIssued(ca)).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.subjectAltName).toBe('DNS:api.example.com');
  expect(leaf.checkHost('other.example.com')).toBeUndefined();
  expect(Math.abs(Date.parse(leaf.validTo) - now - 7 * day)).toBeLessThan(10_000);
  expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  expect(issued('api.example.com').serialNumber).not.toBe(leaf.serialNumber);
});

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '0:0:0:0:0:0:0:1'],
  ['2001:db8::7:0:1', '2001:DB8:0:0:0:7:0:1'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['fe80::', 'FE80:0:0:0:0:0:0:0'],
  ['::ffff:10.1.2.3', '0:0:0:0:0:FFFF:A01:203'],
])('a certificate of the address %s names it as one', (address, shown) => {
  expect(issued(address).subjectAltName).toBe(`IP Address:${shown}`);
  expect(issued(address).checkIP(address)).toBe(address);
});

it('no certificate outlives its authority', () => {
  const old = createAuthority('old', Date.now() - (10 * 365 - 2) * day);
  const until = new Issuer(old).issue('a.example').until;
  expect(until).toBeLessThan(Date.now() + 3 * day);
});

it('times behind 2049 are written as RFC 5280 wants them', () => {
  const late = createAuthority('late', Date.UTC(2045, 0));
  expect(new X509Certificate(late.certificate).validTo).toContain('2054');
});

describe('a client that trusts an authority', () => {
  async function handshake(trusted: AuthorityKeys, host: string, name = host): Promise<string> {
    const { certificate, key } = issuer.issue(host);
    const server = createServer({ cert: certificate, key }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', servername: name, ca: trusted.certificate });
    try {
      await once(client, 'secureConnect');
      return (client as TLSSocket).authorized ? 'trusted' : 'not trusted';
    } catch (error) {
      return (error as { code: string }).code;
    } finally {
      client.destroy();
      server.close();
    }
  }

  it('trusts its certificates for their host, and for no other', async () => {
    expect(await handshake(authority, 'api.example.com')).toBe('trusted');
    expect(await handshake(authority, 'api.example.com', 'other.example.com')).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
  });

  it('trusts no certificate of another authority of the same name', async () => {
    const other = createAuthority('Glovebox of a spec');
    expect(await handshake(other, 'api.example.com')).toMatch(/^(UNABLE_TO|CERT_SIGNATURE)/);
  });
});
