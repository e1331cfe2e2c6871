import type { Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { createAuthority, freePort, startDnsServer } from '@glovebox/testing';
import { egressOf } from './__fixtures__/egress';
import { startHttpServer, startHttpsServer, startTcpServer } from './__fixtures__/servers';
import { EgressUnreachable } from './refusal';
import { reasonOf, tlsReasonOf } from './reasons';

const closers: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

const authority = createAuthority();
const local = 'IP:127.0.0.1';
const hour = 3_600_000;

function closing<Server extends { close(): Promise<void> }>(server: Server): Server {
  closers.push(server.close);
  return server;
}

const speaking = async (act: (socket: Socket) => void): Promise<number> =>
  closing(await startTcpServer(act)).port;

type Certificate = ReturnType<typeof authority.issue>;

const secure = async (certificate: Certificate): Promise<number> =>
  closing(await startHttpsServer(certificate, (_req, res) => res.end())).port;

async function secureWith(options: TlsOptions): Promise<number> {
  const server = createTlsServer({ ...authority.issue(local), ...options }, (socket) => {
    socket.on('error', () => undefined).end();
  });
  server.on('tlsClientError', () => undefined);
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  closers.push(() => void server.close());
  return port;
}

interface Dialled {
  readonly host?: string;
  readonly tls?: boolean;
  /** Null: the roots of Node. */
  readonly ca?: string | null;
  readonly timeoutMs?: number;
}

async function told(
  port: number,
  { host = '127.0.0.1', tls = true, ca = authority.ca, timeoutMs = 5_000 }: Dialled = {},
): Promise<string> {
  const dns = closing(
    await startDnsServer(({ name }) =>
      name === 'failing.test' ? 'failure' : name === 'silent.test' ? 'silence' : 'no such name',
    ),
  );
  const egress = egressOf({ allow: ['127.0.0.1:*'], dnsServers: [dns.address] });
  try {
    const socket = await egress.dial({ host, port, tls, ca: ca ?? undefined, timeoutMs });
    socket.destroy();
    return 'connected';
  } catch (error) {
    if (!(error instanceof EgressUnreachable)) throw error;
    return `${error.phase}: ${error.reason}`;
  }
}

describe('a connection that fails says where and why:', () => {
  it.each<[string, string, () => Promise<string>]>([
    ['no such name', 'name: the name does not exist', () => told(443, { host: 'no.test' })],
    [
      'a name server that fails',
      'name: the name server failed',
      () => told(443, { host: 'failing.test' }),
    ],
    [
      'a name server that is silent',
      'name: the name was not looked up within 0.2 s',
      () => told(443, { host: 'silent.test', timeoutMs: 200 }),
    ],
    ['no listener', 'connect: refused', async () => told(await freePort())],
    [
      'a self-signed certificate',
      'tls: the certificate is self-signed',
      async () => told(await secure(authority.selfSigned(local))),
    ],
    [
      'an expired certificate',
      'tls: the certificate has expired',
      async () => told(await secure(authority.issueFor({ from: -2 * hour, until: -hour }, local))),
    ],
    [
      'a certificate of tomorrow',
      'tls: the certificate is not yet valid',
      async () => told(await secure(authority.issueFor({ from: hour, until: 2 * hour }, local))),
    ],
    [
      'a certificate for another name',
      'tls: the certificate is for another name',
      async () => told(await secure(authority.issue('DNS:secret-name.test'))),
    ],
    [
      'an unknown issuer',
      'tls: the issuer of the certificate is unknown',
      async () => told(await secure(authority.issue(local)), { ca: null }),
    ],
    [
      'an unknown issuer that the server sends along',
      'tls: the certificate is self-signed, or its authority is',
      async () => {
        const { cert, key } = authority.issue(local);
        return told(await secure({ cert: cert + authority.ca, key }), { ca: null });
      },
    ],
    [
      'TLS to a port of plain HTTP',
      'tls: the port does not speak TLS, the URL says https',
      async () => told(closing(await startHttpServer((_req, res) => res.end())).port),
    ],
    [
      'TLS to a port of mail',
      'tls: the port does not speak TLS, the URL says https',
      async () => told(await speaking((socket) => socket.end('220 mail.test ready\r\n'))),
    ],
    [
      'no common version',
      'tls: there is no common version of TLS',
      async () =>
        told(
          await secureWith({
            minVersion: 'TLSv1.1',
            maxVersion: 'TLSv1.1',
            ciphers: 'DEFAULT@SECLEVEL=0',
          }),
        ),
    ],
    [
      'a client certificate that is missing',
      'tls: there is no common cipher, or a client certificate is wanted',
      async () =>
        told(
          await secureWith({
            ca: authority.ca,
            requestCert: true,
            rejectUnauthorized: true,
            maxVersion: 'TLSv1.2',
          }),
        ),
    ],
    [
      'another protocol than HTTP/1.1',
      'tls: the destination does not offer HTTP/1.1',
      async () => told(await secureWith({ ALPNProtocols: ['h2'] })),
    ],
    [
      'a handshake that is reset',
      'tls: the connection ended in the TLS handshake',
      async () =>
        told(await speaking((socket) => void socket.once('data', () => socket.resetAndDestroy()))),
    ],
    [
      'a handshake without an end',
      'tls: no end of the TLS handshake within 0.2 s',
      async () => told(await speaking((socket) => void socket.resume()), { timeoutMs: 200 }),
    ],
  ])('%s', async (_, reason, failing) => {
    expect(await failing()).toBe(reason);
  });

  it('a POST whose answer does not come, too', async () => {
    const posted = async (act: (socket: Socket) => void): Promise<string> => {
      const port = await speaking(act);
      const message = { owner: 'tenant', headers: {}, body: '{}', timeoutMs: 200 };
      return egressOf({ allow: ['127.0.0.1:*'] })
        .post(`http://127.0.0.1:${port}/`, message)
        .then(
          ({ status }) => String(status),
          ({ phase, reason }: EgressUnreachable) => `${phase}: ${reason}`,
        );
    };
    const alert = Buffer.from('15030100020246', 'hex');
    const says = (bytes: string | Buffer) => (socket: Socket) =>
      void socket.once('data', () => socket.end(bytes));
    expect(await posted(says(alert))).toBe('first_byte: the port speaks TLS, the URL says http');
    expect(await posted(says('SSH-2.0-secret\r\n'))).toBe('first_byte: the answer is not HTTP/1.1');
    expect(await posted(says(''))).toBe('first_byte: closed without an answer');
    expect(await posted((socket) => void socket.resume())).toBe(
      'first_byte: no answer within 0.2 s',
    );
  });
});

describe('a code that nobody has listed', () => {
  it('gets a reason of its phase, and no word of its error', () => {
    expect(reasonOf('toString', 'name')).toBe('the name cannot be looked up');
    expect(reasonOf('ESOMETHING', 'connect')).toBe('no connection');
    expect(reasonOf('ERR_SSL_SOMETHING', 'tls')).toBe('the TLS handshake failed');
    expect(reasonOf('HPE_SOMETHING', 'first_byte')).toBe('the answer is not HTTP/1.1');
  });

  it('is one of TLS by its name', () => {
    expect(tlsReasonOf({ name: '', message: '', code: 'ERR_SSL_X' })).toBe(
      'the TLS handshake failed',
    );
    expect(tlsReasonOf({ name: '', message: '', code: 'ECONNRESET' })).toBeUndefined();
  });
});
