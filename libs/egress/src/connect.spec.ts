import { text } from 'node:stream/consumers';
import { type Authority, createAuthority, type DnsServer, startDnsServer } from '@glovebox/testing';
import { egressOf as egressHere } from './__fixtures__/egress';
import { startHttpServer, startHttpsServer, type Listening } from './__fixtures__/servers';
import type { Egress } from './index';
import type { EgressSettings } from './policy';

let authority: Authority;
let dns: DnsServer;
const publicAddress = '8.8.8.8';

beforeAll(async () => {
  authority = createAuthority();
  dns = await startDnsServer(({ name }) => ({
    addresses: [name.startsWith('public') ? publicAddress : '127.0.0.1'],
  }));
});
afterAll(async () => {
  await dns.close();
});

const closers: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

const http = async (): Promise<Listening> => {
  const server = await startHttpServer((req, res) => res.end(`${req.headers.host} ${req.url}`));
  closers.push(server.close);
  return server;
};

const https = async (...names: string[]): Promise<Listening> => {
  const certificate = authority.issue(...names);
  const server = await startHttpsServer(certificate, (req, res) => res.end(req.headers.host));
  closers.push(server.close);
  return server;
};

const egressOf = (settings: Partial<EgressSettings>) =>
  egressHere({ dnsServers: [dns.address], ...settings });

/** Sends one GET over the connection, like the gateway's client. Resolves with the body. */
async function get(
  egress: Pick<Egress, 'connect'>,
  origin: string,
  { host, ca = authority.ca }: { host?: string; ca?: string | undefined } = {},
): Promise<string> {
  const url = new URL(origin);
  const tls = url.protocol === 'https:';
  const port = Number(url.port || (tls ? 443 : 80));
  const socket = await egress.connect({ owner: 'tenant', host: url.hostname, port, tls, ca });
  socket.write(`GET /path HTTP/1.1\r\nHost: ${host ?? url.host}\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  return answer.slice(answer.indexOf('\r\n\r\n') + 4);
}

describe('a connection that will carry http', () => {
  it('speaks plain http to an address that EGRESS_ALLOW names', async () => {
    const { port } = await http();
    const egress = egressOf({ allow: [`127.0.0.1:${port}`] });
    const answer = await get(egress, `http://dest.test:${port}`);
    expect(answer).toContain(`dest.test:${port} /path`);
  });

  it('speaks https under the name of the destination', async () => {
    const server = await https('DNS:dest.test');
    const egress = egressOf({ allow: [`127.0.0.1:${server.port}`] });
    expect(await get(egress, `https://dest.test:${server.port}`)).toContain('dest.test');
    expect(server.serverNames).toEqual(['dest.test']);
  });

  it('does not let a Host header change SNI, identity or address', async () => {
    const server = await https('DNS:dest.test');
    const egress = egressOf({ allow: [`127.0.0.1:${server.port}`] });
    const asked = dns.questions.length;
    const answer = await get(egress, `https://dest.test:${server.port}`, { host: 'public.test' });
    expect(answer).toContain('public.test');
    expect(server.serverNames).toEqual(['dest.test']);
    expect(new Set(dns.questions.slice(asked).map(({ name }) => name))).toEqual(
      new Set(['dest.test']),
    );
  });

  it('does not take a certificate for another name', async () => {
    const { port } = await https('DNS:other.test');
    const egress = egressOf({ allow: [`127.0.0.1:${port}`] });
    const failed = get(egress, `https://dest.test:${port}`, { host: 'other.test' });
    await expect(failed).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('trusts no authority that Node would not', async () => {
    const { port } = await https('DNS:dest.test');
    const egress = egressOf({ allow: [`127.0.0.1:${port}`] });
    await expect(
      egress.connect({ owner: 'tenant', host: 'dest.test', port, tls: true }),
    ).rejects.toMatchObject({ name: 'EgressUnreachable' });
  });

  it.each(['https://127.0.0.1', 'http://127.0.0.1', 'https://[::1]', 'https://[::ffff:7f00:1]'])(
    'is not made to a forbidden literal address: %s',
    async (origin) => {
      const server = await http();
      const failed = get(egressOf({ allowHttp: true }), `${origin}:${server.port}`);
      await expect(failed).rejects.toMatchObject({ code: 'EGRESS_REFUSED', reason: 'address' });
      expect(server.connections).toEqual([]);
    },
  );

  it('reaches a literal IPv4 address over https when EGRESS_ALLOW names it', async () => {
    const server = await https('IP:127.0.0.1');
    const egress = egressOf({ allow: [`127.0.0.1:${server.port}`] });
    expect(await get(egress, `https://127.0.0.1:${server.port}`)).toContain('127.0.0.1');
    expect(server.serverNames).toEqual([false]);
  });

  it('is not made in plain http to a public address', async () => {
    const failed = get(egressOf({ allow: ['127.0.0.1:*'] }), 'http://public.test');
    await expect(failed).rejects.toMatchObject({ code: 'EGRESS_REFUSED', reason: 'plain_http' });
  });
});
