import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { createAuthority } from '@glovebox/certificates';
import { startDestination, waitFor } from '@glovebox/testing';
import {
  matching,
  openPlainTunnelTo,
  openTunnelTo,
  sendConnect,
  speakTls,
  startSpecForward,
  startTlsDestination,
  TunnelClient,
  type SpecForward,
  type TlsDestination,
} from './spec-forward';

let spec: SpecForward;
let destination: TlsDestination;
let key: string;

beforeAll(async () => {
  spec = await startSpecForward({ HEADERS_TIMEOUT_MS: '300' });
  destination = await startTlsDestination();
  key = await spec.application(['token:use']);
});
afterAll(async () => {
  await spec.close();
  await destination.close();
});

/** A proxy that sends on to the origin of the request. */
const toRequest = (paths: string[] = []) =>
  spec.proxy('https://elsewhere.example', {
    ...matching([destination.address], { paths }),
    ...{ forwardTo: 'request', tls: destination.tls },
  });

describe('a tunnel', () => {
  it('carries requests through the proxy that matches, with tokens replaced', async () => {
    await toRequest(['/tokens']);
    const token = await spec.token({ number: '4242' });
    const client = await openTunnelTo(spec, destination.address, key);
    const body = `{"card":"{{ ${token} | json: '$.number' }}"}`;
    client.write(
      'POST /tokens/a?b=c HTTP/1.1',
      `Host: ${destination.address}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    );
    await waitFor(() => client.text.includes('from the destination'));
    expect(client.statuses).toEqual([200]);
    expect(client.text.toLowerCase()).toContain('svc-proxy-destination-status: 200');
    const heard = destination.requests.at(-1);
    expect(heard).toMatchObject({ method: 'POST', url: '/tokens/a?b=c', body: '{"card":"4242"}' });
    expect(heard?.headers.host).toBe(destination.address);
    // The second request of the same tunnel.
    expect(await client.get('/tokens/second', destination.address)).toBe(200);
    client.socket.destroy();
  });

  it('carries no path that its values make another proxy’s, or that nobody can read in one way', async () => {
    await toRequest(['/chosen']);
    await toRequest(['/chosen/guarded']);
    const client = await openTunnelTo(spec, destination.address, key);
    const send = async (...data: string[]): Promise<number> => {
      const tokens = await Promise.all(data.map((one) => spec.token(one)));
      const path = tokens.map((one) => `/%7B%7B${one}%7D%7D`).join('');
      return client.get(`/chosen${path}`, destination.address);
    };
    const before = destination.requests.length;
    for (const refused of [['guarded'], ['guarded', 'x'], ['guarded;x'], ['a/b']]) {
      expect([refused, await send(...refused)]).toEqual([refused, 400]);
    }
    expect(client.text).toContain('invalid_request');
    expect(destination.requests).toHaveLength(before);
    expect(await client.get('/chosen/guarded;x', destination.address)).toBe(400);
    expect(await send('free', 'guarded')).toBe(200);
    expect(destination.requests.at(-1)?.url).toBe('/chosen/free/guarded');
    client.socket.destroy();
  });

  it('speaks HTTP/1.1 to clients that would rather speak HTTP/2, by TLS 1.2 or newer', async () => {
    const connected = await sendConnect(spec.forwardPort, destination.address, key);
    const tls = await speakTls(connected, { ca: spec.authority.certificate, host: '127.0.0.1' });
    expect(tls.alpnProtocol).toBe('http/1.1');
    expect(tls.getPeerCertificate().subjectaltname).toBe('IP Address:127.0.0.1');
    tls.destroy();
    const old = await sendConnect(spec.forwardPort, destination.address, key);
    const versions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const;
    // OpenSSL would not even offer them.
    const options = { ...versions, ciphers: 'DEFAULT@SECLEVEL=0' };
    await expect(speakTls(old, options)).rejects.toThrow('protocol version');
  });

  it('carries plain HTTP of a client that speaks no TLS to the proxy of http://', async () => {
    const plain = await startDestination();
    await spec.proxy(plain.url, matching([`http://${plain.address}`]));
    const token = await spec.token('4242');
    const client = await openPlainTunnelTo(spec, plain.address, key);
    const card = encodeURIComponent(`{{ ${token} }}`);
    expect(await client.get(`/a?card=${card}`, plain.address)).toBe(200);
    expect(await client.get('/second', plain.address)).toBe(200);
    expect(plain.requests.map(({ url }) => url)).toEqual(['/a?card=4242', '/second']);
    expect(await client.get('/third', 'other.example')).toBe(421);
    await client.done();
    expect(plain.requests).toHaveLength(2);
    await plain.close();
    await waitFor(() => spec.ctx.forwardTunnels.state.held === 0);
  });

  it('without TLS does not reach what a proxy has for https alone', async () => {
    await toRequest(['/tokens']);
    const before = destination.requests.length;
    const client = await openPlainTunnelTo(spec, destination.address, key);
    expect(await client.get('/tokens', destination.address)).toBe(403);
    expect(destination.requests).toHaveLength(before);
    client.socket.destroy();
  });

  it('without TLS ends when its client leaves, and in time when it sends half a head', async () => {
    const [left, slow] = [
      await openPlainTunnelTo(spec, destination.address, key),
      await openPlainTunnelTo(spec, destination.address, key),
    ];
    left.socket.end();
    slow.write('GET /tokens HTTP/1.1', 'Host: ');
    expect(await slow.done()).toContain('HTTP/1.1 408 ');
    await waitFor(() => spec.ctx.forwardTunnels.state.held === 0);
  });

  it('opens by a CONNECT of HTTP/1.0 without a Host, as Python up to 3.11 sends it', async () => {
    await toRequest(['/tokens']);
    const version = { version: '1.0' };
    const connected = await sendConnect(spec.forwardPort, destination.address, key, version);
    expect(connected.text).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
    const ca = spec.authority.certificate;
    const client = new TunnelClient(await speakTls(connected, { ca, host: '127.0.0.1' }));
    expect(await client.get('/tokens/a', destination.address)).toBe(200);
    expect(await client.get('/tokens/b', destination.address)).toBe(200);
    client.socket.destroy();
    const plain = await startDestination();
    await spec.proxy(plain.url, matching([`http://${plain.address}`]));
    const opened = await sendConnect(spec.forwardPort, plain.address, key, version);
    expect(await opened.get('/plain', plain.address)).toBe(200);
    opened.socket.destroy();
    await plain.close();
  });

  it('refuses the next request of a key that was revoked while it was open', async () => {
    const { key: own, revoke } = await spec.revocable(['token:use']);
    const client = await openTunnelTo(spec, destination.address, own);
    expect(await client.get('/tokens/before', destination.address)).toBe(200);
    await revoke();
    expect(await client.get('/tokens/after', destination.address)).toBe(401);
    expect(client.text).toContain('"proxy_error"');
    expect(destination.requests.map(({ url }) => url)).not.toContain('/tokens/after');
    client.socket.destroy();
  });

  it.each([
    ['another name', 'Host: other.example'],
    ['another port', 'Host: 127.0.0.1:1'],
    ['a name that the address hides in', 'Host: 127.0.0.1.example:443'],
  ])('answers 421 to a request for %s than CONNECT named', async (_, line) => {
    const client = await openTunnelTo(spec, destination.address, key);
    const before = destination.requests.length;
    client.write('GET /tokens HTTP/1.1', line, '', '');
    expect(await client.done()).toContain('misdirected_request');
    expect(client.statuses).toEqual([421]);
    expect(destination.requests).toHaveLength(before);
  });

  it('answers 421 where TLS names another host than CONNECT', async () => {
    const connected = await sendConnect(spec.forwardPort, destination.address, key);
    const ca = spec.authority.certificate;
    const named = { ca, servername: 'other.example', checkServerIdentity: () => undefined };
    const client = new TunnelClient(await speakTls(connected, named));
    expect(await client.get('/tokens', destination.address)).toBe(421);
  });

  it('to one host is the own one of each tenant: authority, proxy and key', async () => {
    await toRequest(['/own']);
    const tenantId = randomUUID();
    const authority = createAuthority('authority of another tenant');
    const authorities = [{ ...authority, until: null }];
    await spec.define({ kind: 'authority', id: tenantId, tenantId, authorities });
    const match = matching([destination.address], { paths: ['/own'] });
    const fixed = `https://${destination.address}/of-the-other`;
    await spec.proxy(fixed, { ...match, tenantId, tls: destination.tls });
    const other = await spec.application(['token:use'], tenantId);
    const theirs = await openTunnelTo({ ...spec, authority }, destination.address, other);
    expect(await theirs.get('/own', destination.address)).toBe(200);
    expect(destination.requests.at(-1)?.url).toBe('/of-the-other/own');
    const ours = await openTunnelTo(spec, destination.address, key);
    expect(await ours.get('/own', destination.address)).toBe(200);
    expect(destination.requests.at(-1)?.url).toBe('/own');
    const crossed = await sendConnect(spec.forwardPort, destination.address, other);
    const options = { ca: spec.authority.certificate, host: '127.0.0.1' };
    await expect(speakTls(crossed, options)).rejects.toThrow();
    for (const { socket } of [theirs, ours]) socket.destroy();
  });

  it('is closed where no handshake comes, and where its bytes are none', async () => {
    const silent = await sendConnect(spec.forwardPort, destination.address, key);
    const behind = '\x16 no handshake';
    const garbage = await sendConnect(spec.forwardPort, destination.address, key, { behind });
    await garbage.done();
    await silent.done();
    await waitFor(() => spec.ctx.forwardTunnels.state.held === 0);
  });
});

describe('CONNECT', () => {
  it.each([
    ['no key', null],
    ['a wrong key', 'key_wrong'],
  ])('with %s is asked for one by 407', async (_, wrong) => {
    const client = await sendConnect(spec.forwardPort, destination.address, wrong);
    const answer = await client.done();
    expect(answer).toMatch(/^HTTP\/1\.1 407 /);
    expect(answer).toContain('proxy-authenticate: Basic realm="Glovebox"');
  });

  it('to a host that no proxy matches says how to allow it', async () => {
    const client = await sendConnect(spec.forwardPort, 'api.example.com:443', key);
    const answer = await client.done();
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain('api.example.com');
    expect(answer).toContain('forward_unmatched');
  });

  it('to a host that is read is 409 until the tenant has an authority, and then opens', async () => {
    const tenantId = randomUUID();
    await spec.proxy('https://elsewhere.example', { ...matching(['early.example']), tenantId });
    const theirs = await spec.application(['token:use'], tenantId);
    const early = await sendConnect(spec.forwardPort, 'early.example:443', theirs);
    expect(await early.done()).toMatch(
      /^HTTP\/1\.1 409 [^]*"conflict"[^]*GET \/tenants\/self\/forward-ca/,
    );
    await spec.defineAuthority(tenantId);
    const opened = await sendConnect(spec.forwardPort, 'early.example:443', theirs);
    expect(opened.text).toMatch(/^HTTP\/1\.1 200 /);
    opened.socket.destroy();
  });

  it.each([
    'name..example:443',
    'name..:443',
    'user@api.example.com:443',
    'api.example.com:0',
    'api.example.com:65536',
    'api.example.com:x',
    'api.example.com/path:443',
    'a b:443',
    ':443',
  ])('to %s is refused: it can be read in several ways', async (target) => {
    const client = await sendConnect(spec.forwardPort, target, key);
    expect(await client.done()).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    'API.Example.com:443',
    'api.example.com.:443',
    'api.example.com:0443',
    'api.example.com',
  ])('to %s meets the proxy of api.example.com', async (target) => {
    await spec.proxy('https://elsewhere.example', matching(['api.example.com']));
    const client = await sendConnect(spec.forwardPort, target, key);
    expect(client.text).toMatch(/^HTTP\/1\.1 200 /);
    client.socket.destroy();
  });

  it.each(['with a Host header', 'without a Host header'])(
    'of HTTP/1.0 %s opens a tunnel like one of HTTP/1.1',
    async (which) => {
      await toRequest(['/tokens']);
      const client = new TunnelClient(connect(spec.forwardPort, '127.0.0.1'));
      client.write(
        `CONNECT ${destination.address} HTTP/1.0`,
        ...(which === 'with a Host header' ? [`Host: ${destination.address}`] : []),
        `Proxy-Authorization: Bearer ${key}`,
        '',
        '',
      );
      await waitFor(() => client.text.includes('\r\n\r\n') || client.ended);
      expect(client.text).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
      const trust = { ca: spec.authority.certificate, host: '127.0.0.1' };
      const inner = new TunnelClient(await speakTls(client, trust));
      expect(await inner.get('/tokens/old', destination.address)).toBe(200);
      expect(destination.requests.at(-1)?.url).toBe('/tokens/old');
      inner.socket.destroy();
    },
  );

  it('of HTTP/1.0 needs a key, and a host that can be read in one way', async () => {
    const send = async (target: string, ...lines: string[]): Promise<number[]> => {
      const client = new TunnelClient(connect(spec.forwardPort, '127.0.0.1'));
      client.write(`CONNECT ${target} HTTP/1.0`, ...lines, '', '');
      await client.done();
      return client.statuses;
    };
    expect(await send(destination.address)).toEqual([407]);
    const credentials = `Proxy-Authorization: Bearer ${key}`;
    expect(await send('name..example:443', credentials)).toEqual([400]);
    expect(await send(destination.address, credentials, 'Content-Length: 5')).toEqual([400]);
  });

  it('with a body is refused, and nothing behind it is served', async () => {
    const smuggled = `GET http://${destination.address}/smuggled HTTP/1.1\r\nHost: x\r\n\r\n`;
    const client = new TunnelClient(connect(spec.forwardPort, '127.0.0.1'));
    client.write(
      `CONNECT ${destination.address} HTTP/1.1`,
      `Host: ${destination.address}`,
      `Proxy-Authorization: Bearer ${key}`,
      'Content-Length: 5',
      '',
      `12345${smuggled}`,
    );
    expect(await client.done()).toMatch(/^HTTP\/1\.1 400 /);
    expect(client.statuses).toHaveLength(1);
  });
});
