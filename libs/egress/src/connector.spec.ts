import { Pool } from 'undici';
import { type Authority, createAuthority, type DnsServer, startDnsServer } from '@glovebox/testing';
import { egressOf as egressHere } from './__fixtures__/egress';
import { startHttpServer, startHttpsServer, type Listening } from './__fixtures__/servers';
import type { Egress, EgressSettings } from './index';

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

async function get(
  egress: Pick<Egress, 'connectorFor'>,
  origin: string,
  headers: Record<string, string> = {},
) {
  const pool = new Pool(origin, { connect: egress.connectorFor('tenant', { ca: authority.ca }) });
  try {
    const { statusCode, body } = await pool.request({ method: 'GET', path: '/path', headers });
    return { status: statusCode, text: await body.text() };
  } finally {
    await pool.destroy();
  }
}

describe('undici through the connector', () => {
  it('speaks plain http to an address that EGRESS_ALLOW names', async () => {
    const { port } = await http();
    const egress = egressOf({ allow: [`127.0.0.1:${port}`] });
    const pool = new Pool(`http://dest.test:${port}`, { connect: egress.connectorFor('tenant') });
    closers.push(() => pool.destroy());
    const { body } = await pool.request({ method: 'GET', path: '/path' });
    expect(await body.text()).toBe(`dest.test:${port} /path`);
  });

  it('speaks https under the name of the destination', async () => {
    const server = await https('DNS:dest.test');
    const egress = egressOf({ allow: [`127.0.0.1:${server.port}`] });
    const answer = await get(egress, `https://dest.test:${server.port}`);
    expect(answer).toEqual({ status: 200, text: `dest.test:${server.port}` });
    expect(server.serverNames).toEqual(['dest.test']);
  });

  it('lets a Host header change neither SNI nor identity nor address', async () => {
    const server = await https('DNS:dest.test');
    const egress = egressOf({ allow: [`127.0.0.1:${server.port}`] });
    const asked = dns.questions.length;
    const answer = await get(egress, `https://dest.test:${server.port}`, { host: 'public.test' });
    expect(answer).toEqual({ status: 200, text: 'public.test' });
    expect(server.serverNames).toEqual(['dest.test']);
    expect(new Set(dns.questions.slice(asked).map(({ name }) => name))).toEqual(
      new Set(['dest.test']),
    );
  });

  it('does not take a certificate for the name in the Host header', async () => {
    const { port } = await https('DNS:other.test');
    const egress = egressOf({ allow: [`127.0.0.1:${port}`] });
    const failed = get(egress, `https://dest.test:${port}`, { host: 'other.test' });
    await expect(failed).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('does not trust what Node would not', async () => {
    const { port } = await https('DNS:dest.test');
    const egress = egressOf({ allow: [`127.0.0.1:${port}`] });
    const pool = new Pool(`https://dest.test:${port}`, { connect: egress.connectorFor('tenant') });
    closers.push(() => pool.destroy());
    await expect(pool.request({ method: 'GET', path: '/' })).rejects.toMatchObject({
      name: 'EgressUnreachable',
    });
  });

  it.each(['https://127.0.0.1', 'http://127.0.0.1', 'https://[::1]', 'https://[::ffff:7f00:1]'])(
    'judges literal addresses, which undici looks up no more: %s',
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
    expect((await get(egress, `https://127.0.0.1:${server.port}`)).status).toBe(200);
    expect(server.serverNames).toEqual([false]);
  });

  it('refuses plain http to a public address before any connection', async () => {
    const failed = get(egressOf({ allow: ['127.0.0.1:*'] }), 'http://public.test');
    await expect(failed).rejects.toMatchObject({ code: 'EGRESS_REFUSED', reason: 'plain_http' });
  });

  it('fails all that waits for the same refused destination', async () => {
    const pool = new Pool('https://dest.test', {
      connect: egressOf({}).connectorFor('tenant'),
      connections: 1,
    });
    closers.push(() => pool.destroy());
    const requests = Array.from({ length: 5 }, () => pool.request({ method: 'GET', path: '/' }));
    const answers = await Promise.allSettled(requests);
    expect(answers.map((answer) => answer.status === 'rejected' && answer.reason.code)).toEqual(
      Array.from({ length: 5 }, () => 'EGRESS_REFUSED'),
    );
  });

  it('refuses what is neither http nor https, and sockets made elsewhere', async () => {
    const connector = egressOf({ allow: ['127.0.0.1:*'] }).connectorFor('tenant');
    const error = await new Promise((resolve) =>
      connector({ hostname: '127.0.0.1', protocol: 'ftp:', port: '21' }, (...[refused]) =>
        resolve(refused),
      ),
    );
    expect(error).toMatchObject({ code: 'EGRESS_REFUSED', reason: 'protocol' });
  });
});
