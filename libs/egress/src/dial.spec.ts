import { once } from 'node:events';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  type Authority,
  createAuthority,
  type DnsAnswer,
  type DnsQuestion,
  startDnsServer,
  waitFor,
} from '@glovebox/testing';
import { egressOf } from './__fixtures__/egress';
import { startHttpsServer, startTcpServer, type Listening } from './__fixtures__/servers';

const closers: Array<() => Promise<void> | void> = [];
const closing = <T extends { close(): Promise<void> | void }>(what: T): T => {
  closers.push(() => what.close());
  return what;
};
afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

const nameServer = async (answer: (question: DnsQuestion) => DnsAnswer) =>
  closing(await startDnsServer(answer));

/** Answers each connection with the address that it was made to. */
const echo = async (host = '127.0.0.1', port = 0): Promise<Listening> =>
  closing(await startTcpServer((socket) => socket.end(socket.localAddress ?? ''), host, port));

async function heard(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** Timers, connections and look-ups that are open right now. */
const openNow = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => /Timeout|TCPSocket|TCPConnect|TLS|DNS|QUERY|GETADDRINFO/i.test(kind));

let openAtFirst = 0;
beforeAll(() => {
  openAtFirst = openNow().length;
});

/** Resolves long before any time-out could have cleaned up. */
const nothingIsLeft = (): Promise<boolean> =>
  waitFor(() => openNow().length <= openAtFirst, { timeoutMs: 1_000 });

describe('the address of a name', () => {
  it('is dialled when every answer is allowed, by EGRESS_DNS alone', async () => {
    const { port } = await echo();
    const dns = await nameServer(() => ({ addresses: ['127.0.0.1'] }));
    const egress = egressOf({ allow: [`127.0.0.1:${port}`], dnsServers: [dns.address] });
    const socket = await egress.dial({ host: 'Dest.Test', port, tls: false });
    expect(await heard(socket)).toBe('127.0.0.1');
    expect(dns.questions.map(({ type }) => type).sort()).toEqual(['A', 'AAAA']);
    expect(dns.questions[0]?.name.toLowerCase()).toBe('dest.test');
  });

  it('is found behind a CNAME', async () => {
    const { port } = await echo();
    const dns = await nameServer(() => ({ addresses: ['127.0.0.1'], alias: 'other.test' }));
    const egress = egressOf({ allow: [`127.0.0.1:${port}`], dnsServers: [dns.address] });
    expect(await heard(await egress.dial({ host: 'dest.test', port, tls: false }))).toBe(
      '127.0.0.1',
    );
  });

  it.each([
    ['a private one', ['10.0.0.1']],
    ['one public, one private', ['127.0.0.1', '10.0.0.1']],
    ['one private, one public', ['10.0.0.1', '127.0.0.1']],
    ['a public A, a private AAAA', ['127.0.0.1', 'fd00::1']],
    ['a public A, a mapped AAAA', ['127.0.0.1', '::ffff:a00:1']],
    ['metadata', ['169.254.169.254']],
    ['NAT64 to loopback', ['64:ff9b::7f00:1']],
  ])('is refused without a connection: %s', async (_what, addresses) => {
    const server = await echo();
    const dns = await nameServer(() => ({ addresses }));
    // 127.0.0.1 at this port stands for a public address.
    const egress = egressOf({ allow: [`127.0.0.1:${server.port}`], dnsServers: [dns.address] });
    const refused = egress.dial({ host: 'dest.test', port: server.port, tls: false });
    await expect(refused).rejects.toMatchObject({ code: 'EGRESS_REFUSED', reason: 'address' });
    expect(server.connections).toEqual([]);
  });

  it('cannot change between the check and the connection: there is one look-up', async () => {
    const { port } = await echo('127.0.0.2');
    const rebound = await echo('127.0.0.3', port);
    const asked = { A: 0, AAAA: 0, other: 0 };
    const dns = await nameServer(({ type }) => {
      asked[type] += 1;
      return { addresses: [asked[type] === 1 ? '127.0.0.2' : '127.0.0.3'] };
    });
    const egress = egressOf({ allow: [`127.0.0.2:${port}`], dnsServers: [dns.address] });
    expect(await heard(await egress.dial({ host: 'dest.test', port, tls: false }))).toBe(
      '127.0.0.2',
    );
    expect(asked).toEqual({ A: 1, AAAA: 1, other: 0 });
    const second = egress.dial({ host: 'dest.test', port, tls: false });
    await expect(second).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
    expect(rebound.connections).toEqual([]);
  });

  it('is used although the other family gets a bad answer', async () => {
    const { port } = await echo();
    const dns = await nameServer(({ type }) =>
      type === 'A' ? { addresses: ['127.0.0.1'] } : 'failure',
    );
    const egress = egressOf({ allow: [`127.0.0.1:${port}`], dnsServers: [dns.address] });
    expect(await heard(await egress.dial({ host: 'dest.test', port, tls: false }))).toBe(
      '127.0.0.1',
    );
  });

  it('is used although the other family gets no answer', async () => {
    const { port } = await echo();
    const dns = await nameServer(({ type }) =>
      type === 'A' ? { addresses: ['127.0.0.1'] } : 'silence',
    );
    const egress = egressOf({ allow: [`127.0.0.1:${port}`], dnsServers: [dns.address] });
    expect(await heard(await egress.dial({ host: 'dest.test', port, tls: false }))).toBe(
      '127.0.0.1',
    );
  });

  it.each<[string, DnsAnswer, string]>([
    ['no such name', 'no such name', 'ENOTFOUND'],
    ['no addresses', { addresses: [] }, 'ENOTFOUND'],
    ['a failing server', 'failure', 'ESERVFAIL'],
  ])('is replaced by an error code when there is none: %s', async (_what, answer, code) => {
    const dns = await nameServer(() => answer);
    const egress = egressOf({ dnsServers: [dns.address] });
    const failed = egress.dial({ host: 'dest.test', port: 443, tls: true });
    await expect(failed).rejects.toMatchObject({ name: 'EgressUnreachable', code });
  });

  it('is awaited for at most 2 s', async () => {
    const dns = await nameServer(() => 'silence');
    const startedAt = performance.now();
    const failed = egressOf({ dnsServers: [dns.address] }).dial({
      host: 'dest.test',
      port: 443,
      tls: true,
    });
    await expect(failed).rejects.toMatchObject({ name: 'EgressUnreachable', code: 'ETIMEOUT' });
    expect(performance.now() - startedAt).toBeGreaterThan(1_900);
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    await nothingIsLeft();
  });

  it('comes from the system without EGRESS_DNS, /etc/hosts included', async () => {
    const { port } = await echo();
    const egress = egressOf({ allow: [`127.0.0.1:${port}`, `[::1]:${port}`] });
    expect(await heard(await egress.dial({ host: 'localhost', port, tls: false }))).toBe(
      '127.0.0.1',
    );
    const refused = egressOf({}).dial({ host: 'localhost', port, tls: false });
    await expect(refused).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
  });
});

describe('addresses', () => {
  it('are dialled one after the other', async () => {
    const { port } = await echo('127.0.0.9');
    const dns = await nameServer(() => ({ addresses: ['127.0.0.8', '127.0.0.9'] }));
    const egress = egressOf({ allow: ['127.0.0.0/8:*'], dnsServers: [dns.address] });
    expect(await heard(await egress.dial({ host: 'dest.test', port, tls: false }))).toBe(
      '127.0.0.9',
    );
  });

  it.each(['127.0.0.1', '127.1', '0x7f000001', '2130706433', '[::1]', '::ffff:127.0.0.1', '0'])(
    'that are written out are checked: %s',
    async (host) => {
      const { port } = await echo();
      const refused = egressOf({ allow: [`127.0.0.1:${port + 1}`] }).dial({
        host,
        port,
        tls: false,
      });
      await expect(refused).rejects.toMatchObject({ code: 'EGRESS_REFUSED', reason: 'address' });
    },
  );

  it.each([
    '',
    ' ',
    'a b',
    'a/b',
    'a@127.0.0.1',
    '127.0.0.1:80',
    'fe80::1%lo',
    'a\0b',
    '127.0.0.1#',
  ])('written as a host that is none are refused: %j', async (host) => {
    const egress = egressOf({ allow: ['0.0.0.0/0:*', '[::/0]:*'] });
    const refused = egress.dial({ host, port: 443, tls: false });
    await expect(refused).rejects.toMatchObject({ reason: 'not_a_url' });
  });

  it.each([0, -1, 65_536, 1.5, Number.NaN])('may not have the port %d', async (port) => {
    const refused = egressOf({ allow: ['0.0.0.0/0:*'] }).dial({
      host: '127.0.0.1',
      port,
      tls: false,
    });
    await expect(refused).rejects.toMatchObject({ reason: 'not_a_url' });
  });

  it('of our own services are refused although allowed, also by name', async () => {
    const server = await echo();
    const { port } = server;
    const dns = await nameServer(() => ({ addresses: ['127.0.0.1'] }));
    const egress = egressOf({
      allow: ['127.0.0.0/8:*'],
      allowHttp: true,
      dnsServers: [dns.address],
      ownServices: [`localhost:${port}`],
    });
    for (const host of ['127.0.0.1', '127.0.0.2', '0.0.0.0', '::ffff:127.0.0.1', 'dest.test']) {
      const refused = egress.dial({ host, port, tls: false });
      await expect(refused).rejects.toMatchObject({ reason: 'own_service' });
    }
    expect(server.connections).toEqual([]);
  });

  it('never show in an error', async () => {
    const { port, close } = await startTcpServer(() => undefined);
    await close();
    const failed = egressOf({ allow: ['127.0.0.1:*'] }).dial({
      host: '127.0.0.1',
      port,
      tls: false,
    });
    const error = await failed.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'EgressUnreachable', code: 'ECONNREFUSED' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error)).split('at ')[0]).not.toContain(
      '127.0.0.1',
    );
    expect(error).not.toHaveProperty('cause');
  });
});

describe('TLS', () => {
  let authority: Authority;
  beforeAll(() => {
    authority = createAuthority();
  });

  const destination = async (
    names: string[],
    options: { ca?: string; requestCert?: boolean } = {},
  ) =>
    closing(
      await startHttpsServer(
        authority.issue(...names),
        (_req, res) => {
          res.end();
        },
        options,
      ),
    );

  const dialTls = async (host: string, port: number, ca?: string) => {
    const dns = await nameServer(() => ({ addresses: ['127.0.0.1'] }));
    const egress = egressOf({ allow: ['127.0.0.1:*'], dnsServers: [dns.address] });
    const socket = await egress.dial({ host, port, tls: true, ca });
    closers.push(() => void socket.destroy());
    return socket;
  };

  it('checks the certificate against the name, which is the SNI', async () => {
    const server = await destination(['DNS:dest.test']);
    const socket = await dialTls('DEST.test.', server.port, authority.ca);
    expect(socket).toBeInstanceOf(TLSSocket);
    expect((socket as TLSSocket).authorized).toBe(true);
    await waitFor(() => server.serverNames.length > 0);
    expect(server.serverNames).toEqual(['dest.test']);
  });

  it('checks the certificate against a literal address, and sends no SNI', async () => {
    const server = await destination(['IP:127.0.0.1']);
    const socket = await dialTls('127.0.0.1', server.port, authority.ca);
    expect((socket as TLSSocket).authorized).toBe(true);
    await waitFor(() => server.serverNames.length > 0);
    expect(server.serverNames).toEqual([false]);
  });

  it.each([
    ['for another name', 'dest.test', ['DNS:other.test'], 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['for the address alone', 'dest.test', ['IP:127.0.0.1'], 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['for a name alone', '127.0.0.1', ['DNS:dest.test'], 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('refuses a certificate %s', async (_what, host, names, code) => {
    const { port } = await destination(names);
    await expect(dialTls(host, port, authority.ca)).rejects.toMatchObject({ code });
  });

  it('refuses an authority that it does not know', async () => {
    const { port } = await destination(['DNS:dest.test']);
    await expect(dialTls('dest.test', port)).rejects.toMatchObject({
      name: 'EgressUnreachable',
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
  });

  it('refuses a server that does not speak it', async () => {
    const { port } = closing(await startTcpServer((socket) => socket.end('SSH-2.0-x\r\n')));
    await expect(dialTls('dest.test', port)).rejects.toMatchObject({ name: 'EgressUnreachable' });
  });

  it('presents our certificate when given one', async () => {
    const server = await destination(['DNS:dest.test'], { ca: authority.ca, requestCert: true });
    const { cert, key } = authority.issue('DNS:client.test');
    const dns = await nameServer(() => ({ addresses: ['127.0.0.1'] }));
    const egress = egressOf({ allow: ['127.0.0.1:*'], dnsServers: [dns.address] });
    const target = { host: 'dest.test', port: server.port, tls: true, ca: authority.ca, cert, key };
    const socket = await egress.dial(target);
    expect((socket as TLSSocket).authorized).toBe(true);
    socket.destroy();
  });
});

describe('giving up', () => {
  const silentServer = async () => closing(await startTcpServer((socket) => socket.resume()));

  it('ends a handshake that does not come, and leaves nothing open', async () => {
    const server = await silentServer();
    const egress = egressOf({ allow: ['127.0.0.1:*'] });
    const target = { host: '127.0.0.1', port: server.port, tls: true, timeoutMs: 200 };
    await expect(egress.dial(target)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    await waitFor(() => server.connections.every(({ destroyed }) => destroyed));
    await nothingIsLeft();
  });

  it('ends on abort in the handshake, with the reason of the caller', async () => {
    const server = await silentServer();
    const gone = new AbortController();
    const dialing = egressOf({ allow: ['127.0.0.1:*'] }).dial({
      host: '127.0.0.1',
      port: server.port,
      tls: true,
      signal: gone.signal,
    });
    const failed = expect(dialing).rejects.toThrow('the caller left');
    await waitFor(() => server.connections.length === 1);
    gone.abort(new Error('the caller left'));
    await failed;
    await waitFor(() => server.connections.every(({ destroyed }) => destroyed));
    await nothingIsLeft();
  });

  it('ends on abort in the look-up', async () => {
    const dns = await nameServer(() => 'silence');
    const gone = new AbortController();
    const dialing = egressOf({ dnsServers: [dns.address] }).dial({
      host: 'dest.test',
      port: 443,
      tls: true,
      signal: gone.signal,
    });
    const failed = expect(dialing).rejects.toThrow('the caller left');
    await waitFor(() => dns.questions.length > 0);
    gone.abort(new Error('the caller left'));
    await failed;
    await nothingIsLeft();
  });

  it('does not begin with a signal that has aborted before', async () => {
    const server = await silentServer();
    const egress = egressOf({ allow: ['127.0.0.1:*'] });
    const target = { host: '127.0.0.1', port: server.port, tls: false };
    const failed = egress.dial({ ...target, signal: AbortSignal.abort(new Error('too late')) });
    await expect(failed).rejects.toThrow('too late');
    expect(server.connections).toEqual([]);
  });

  it('leaves no listener on a finished connection, which abort no longer ends', async () => {
    const server = await silentServer();
    const made = new AbortController();
    const socket = await egressOf({ allow: ['127.0.0.1:*'] }).dial({
      host: '127.0.0.1',
      port: server.port,
      tls: false,
      signal: made.signal,
      timeoutMs: 50,
    });
    made.abort();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(socket.destroyed).toBe(false);
    socket.destroy();
    await once(socket, 'close');
  });
});
