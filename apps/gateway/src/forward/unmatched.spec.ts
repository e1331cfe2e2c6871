import { readerVersion } from '@glovebox/database';
import { startDestination, waitFor } from '@glovebox/testing';
import { RawCaller } from '../spec-sockets';
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
  spec = await startSpecForward({ FORWARD_IDLE_MS: '400', FORWARD_TUNNELS_MAX: '4' });
  destination = await startTlsDestination();
  key = await spec.application(['token:use']);
});
afterAll(async () => {
  await spec.close();
  await destination.close();
});

/** Neither side has a reason of its own to end it. */
async function endsThoughItMoves(client: TunnelClient): Promise<void> {
  const moving = `GET /moving HTTP/1.1\r\nHost: ${destination.address}\r\n\r\n`;
  const noise = setInterval(() => client.socket.write(moving), 50);
  await client.done().finally(() => clearInterval(noise));
}

const own = () => ({ ca: destination.tls.authority ?? '', host: '127.0.0.1' });

describe('with forward_unmatched tunnel', () => {
  beforeEach(() => spec.tenantSettings({ forward_unmatched: 'tunnel' }));

  it('bytes pass unread: the client meets the certificate of the destination itself', async () => {
    const token = await spec.token('4242');
    const connected = await sendConnect(spec.forwardPort, destination.address, key);
    const client = new TunnelClient(await speakTls(connected, own()));
    expect(await client.get(`/unread?x={{${token}}}`, destination.address)).toBe(200);
    expect(destination.requests.at(-1)?.url).toBe(`/unread?x={{${token}}}`);
    client.socket.destroy();
    await waitFor(() => spec.ctx.forwardTunnels.state.held === 0);
  });

  it('one line of the audit log names the host of each tunnel, and the application', async () => {
    const { key: named, id } = await spec.revocable(['token:use']);
    const opened = await sendConnect(spec.forwardPort, destination.address, named);
    expect(opened.text).toMatch(/ 200 /);
    opened.socket.destroy();
    expect(
      await spec.asAdmin(
        `SELECT operation, entity_type, entity_id, outcome, token_ids, destination_host
         FROM audit_log WHERE actor_id = '${id}'`,
      ),
    ).toEqual([
      {
        ...{ operation: 'tunnel.open', entity_type: 'tenant', entity_id: spec.tenantId },
        ...{ outcome: 'success', token_ids: null, destination_host: destination.address },
      },
    ]);
    await waitFor(() => spec.ctx.forwardTunnels.state.held === 0);
  });

  it('no tunnel opens that the audit log cannot name', async () => {
    await spec.asAdmin('REVOKE INSERT ON audit_log FROM glovebox_data');
    try {
      const refused = await sendConnect(spec.forwardPort, destination.address, key);
      expect(await refused.done()).toMatch(/ 503 [^]*service_unavailable/);
      expect(spec.ctx.forwardTunnels.state.held).toBe(0);
    } finally {
      await spec.asAdmin('GRANT INSERT ON audit_log TO glovebox_data');
    }
  });

  it('a tunnel ends when its key is revoked, and when nothing moves in it', async () => {
    const { key: revocable, revoke } = await spec.revocable(['token:use']);
    const connected = await sendConnect(spec.forwardPort, destination.address, revocable);
    const client = new TunnelClient(await speakTls(connected, own()));
    await revoke();
    await endsThoughItMoves(client);
    const silent = await sendConnect(spec.forwardPort, destination.address, key);
    await silent.done();
  });

  it('a tunnel ends when nobody knows any more whether its key is in force', async () => {
    const cutOff = await startSpecForward();
    try {
      await cutOff.tenantSettings({ forward_unmatched: 'tunnel' });
      const ownKey = await cutOff.application(['token:use']);
      const connected = await sendConnect(cutOff.forwardPort, destination.address, ownKey);
      const client = new TunnelClient(await speakTls(connected, own()));
      expect(await client.get('/before', destination.address)).toBe(200);
      await cutOff.cutOff();
      await endsThoughItMoves(client);
    } finally {
      await cutOff.close();
    }
  });

  it('nothing of ours and no private address is reached', async () => {
    for (const target of ['10.0.0.1:443', '169.254.169.254:80', '[fd00::1]:443', '0x0a.1:443']) {
      const client = await sendConnect(spec.forwardPort, target, key);
      expect([target, await client.done()]).toEqual([target, expect.stringMatching(/ 403 /)]);
    }
    for (const port of Object.values(spec.ports)) {
      const client = await sendConnect(spec.forwardPort, `127.0.0.1:${port}`, key);
      expect(await client.done()).toMatch(/ 403 /);
    }
  });

  it('a tenant gets half of the tunnels', async () => {
    const open = await Promise.all(
      [1, 2].map(() => sendConnect(spec.forwardPort, destination.address, key)),
    );
    const refused = await sendConnect(spec.forwardPort, destination.address, key);
    expect(await refused.done()).toMatch(/ 429 [^]*share_exhausted/);
    for (const { socket } of open) socket.destroy();
    await waitFor(() => spec.ctx.forwardTunnels.state.held === 0);
  });
});

it('with forward_unmatched expressions tokens are replaced, to the own origin of the request', async () => {
  await spec.tenantSettings({ forward_unmatched: 'expressions' });
  const token = await spec.token('4242');
  const client = await openTunnelTo(spec, destination.address, key);
  // No proxy says that the destination's authority is to be trusted.
  expect(await client.get(`/e?x={{${token}}}`, destination.address)).toBe(502);
  expect(client.text).toContain('"phase":"tls"');
  const [use] = await spec.uses(token);
  expect(use).toMatchObject({ destination_host: destination.address });
  client.socket.destroy();
});

it.each([
  ['tunnel', (id: string) => `/other?x={{${id}}}`, 0],
  ['expressions', () => '/other?x=4242', 1],
] as const)(
  'with forward_unmatched %s a request that is read and matches nothing goes to its own origin',
  async (forward_unmatched, sent, uses) => {
    await spec.tenantSettings({ forward_unmatched });
    const plain = await startDestination();
    const id = await spec.token('4242');
    await spec.proxy(plain.url, matching([`http://${plain.address}`], { paths: ['/only'] }));
    const inTunnel = await openPlainTunnelTo(spec, plain.address, key);
    expect(await inTunnel.get(`/other?x={{${id}}}`, plain.address)).toBe(200);
    inTunnel.socket.destroy();
    const whole = new RawCaller(
      spec.forwardPort,
      `GET ${plain.url}/other?x={{${id}}} HTTP/1.1\r\nHost: ${plain.address}\r\n` +
        `Proxy-Authorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
    await waitFor(() => whole.ended);
    expect(whole.status).toBe(200);
    expect(plain.requests.map(({ url }) => url)).toEqual([sent(id), sent(id)]);
    expect(await spec.uses(id)).toHaveLength(2 * uses);
    await plain.close();
  },
);

it('without a setting everything that no proxy matches is denied, within a tunnel as well', async () => {
  await spec.tenantSettings({});
  const closed = await sendConnect(spec.forwardPort, destination.address, key);
  expect(await closed.done()).toMatch(/ 403 [^]*forward_denied/);
  await spec.proxy('https://elsewhere.example', {
    ...matching([destination.address], { paths: ['/only'] }),
    ...{ forwardTo: 'request', tls: destination.tls },
  });
  const client = await openTunnelTo(spec, destination.address, key);
  expect(await client.get('/only/this', destination.address)).toBe(200);
  expect(await client.get('/other', destination.address)).toBe(403);
  expect(await client.get('/only%2fthat', destination.address)).toBe(400);
  client.socket.destroy();
});

it('nothing goes past a proxy that needs a newer gateway: it may be the one that matches', async () => {
  await spec.tenantSettings({ forward_unmatched: 'tunnel' });
  await spec.proxy('https://elsewhere.example', {
    ...matching([destination.address]),
    ...{ forwardTo: 'request', tls: destination.tls },
  });
  const { id } = await spec.changeableProxy('https://unrelated.example');
  const needReader = (v: number): Promise<void> =>
    spec.rewrite({ kind: 'proxy', id }, (payload) => ({ ...payload, v }));
  const open = await openTunnelTo(spec, destination.address, key);
  expect(await open.get('/readable', destination.address)).toBe(200);
  const before = destination.requests.length;
  await needReader(readerVersion + 1);
  expect(await open.get('/matched', destination.address)).toBe(503);
  const refused = await sendConnect(spec.forwardPort, destination.address, key);
  expect(await refused.done()).toMatch(/ 503 [^]*newer_definition/);
  expect(destination.requests).toHaveLength(before);
  await needReader(1);
  expect(await open.get('/again', destination.address)).toBe(200);
  open.socket.destroy();
});
