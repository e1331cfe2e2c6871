import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { createAuthority, waitFor } from '@glovebox/testing';
import { build } from 'esbuild';
import { createRunnerClient } from './runner-client';
import { runnerTls, tlsKeyOf } from './runner-tls';

const secret = 'a secret of the specs that is long enough for a network';
const { psk } = tlsKeyOf(secret);
const wrongKey = (): Buffer => Buffer.alloc(32, 7);
const authority = createAuthority();
const certificate = authority.issue('IP:127.0.0.1', 'DNS:localhost');

const folder = mkdtempSync(join(tmpdir(), 'glovebox-open-socket-'));
const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The other end of the connection, and what it could read. */
async function listen(
  server: Server,
): Promise<{ url: string; heard: () => string; connections: () => number }> {
  let heard = '';
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    closers.push(() => socket.destroy());
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `tcp://127.0.0.1:${port}`,
    heard: () => heard,
    connections: () => connections,
  };
}

describe('a caller of a runner', () => {
  it.each<[string, string | RegExp, () => Server]>([
    [
      'has another key',
      // Of the OpenSSL in Node 20 and 22, and of that in Node 24.
      /^ERR_SSL_(?:SSLV3_ALERT_ILLEGAL_PARAMETER|TLSV1_ALERT_DECRYPT_ERROR)$/,
      () => createTlsServer({ ...runnerTls, pskCallback: wrongKey }),
    ],
    [
      'has a certificate alone',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      () => createTlsServer(certificate),
    ],
    [
      'speaks TLS 1.2',
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      () => createTlsServer({ ...certificate, maxVersion: 'TLSv1.2', pskCallback: () => psk }),
    ],
    [
      'speaks without TLS',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      () => createServer((socket) => socket.on('error', () => undefined).end('\x10\0\0\0\x02{}')),
    ],
  ])('refuses one that %s, says so once, and sends it nothing', async (_case, code, make) => {
    const { url, heard, connections } = await listen(make());
    const told: unknown[] = [];
    const onDistrust = (who: string, error: NodeJS.ErrnoException): void =>
      void told.push([who, error.code]);
    const client = createRunnerClient({ urls: [url], secret, onDistrust });
    closers.push(() => void client.close());
    const startedAt = performance.now();
    expect(await client.ready()).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(1_900);
    await waitFor(async () => !(await client.ready()) && connections() >= 3);
    expect(told).toEqual([[url, expect.stringMatching(code)]]);
    expect(heard()).toBe('');
  });

  it('refuses a certificate that Node itself trusts', async () => {
    const { url, heard } = await listen(createTlsServer(certificate));
    const ca = join(folder, 'ca.pem');
    writeFileSync(ca, authority.ca);
    const caller = join(folder, 'caller.js');
    await build({
      entryPoints: [join(__dirname, 'runner-client.ts')],
      outfile: caller,
      bundle: true,
      platform: 'node',
    });
    const { port } = new URL(url);
    const script = `
      const { createRunnerClient } = require(${JSON.stringify(caller)});
      const trusting = require('tls').connect({ host: '127.0.0.1', port: ${port} }, async () => {
        trusting.destroy();
        const client = createRunnerClient({ urls: ['${url}'], secret: '${secret}', onDistrust: (_url, { code }) => console.log(code) });
        console.log(await client.ready());
        await client.close();
      });`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
      env: { NODE_EXTRA_CA_CERTS: ca },
    });
    expect(stdout.split('\n')).toEqual(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'false', '']);
    expect(heard()).toBe('');
  });

  it('gives up one that takes the connection and is silent', async () => {
    const { url } = await listen(createServer());
    const client = createRunnerClient({ urls: [url], secret, connectTimeoutMs: 200 });
    closers.push(() => void client.close());
    expect(await client.ready()).toBe(false);
  });
});
