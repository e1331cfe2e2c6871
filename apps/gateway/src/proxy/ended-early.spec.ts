import { createServer as createHttpsServer } from 'node:https';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAuthority, startTcpRelay, waitFor } from '@glovebox/testing';
import { startSpecForward, type SpecForward } from '../forward/spec-forward';
import { connectionNames, openEntries, type Entries, type Entry } from '../spec-entries';
import { startRawServer, type RawCaller, type RawServer } from '../spec-sockets';

let gateway: SpecForward;
let destination: RawServer;
let patient: Entries;
let hurried: Entries;
const answered = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';

beforeAll(async () => {
  gateway = await startSpecForward({ DESTINATION_CALLS_MAX: '2', ACCESS_LOG: 'true' });
  destination = await startRawServer((socket, text) => {
    if (/^GET \/now/.test(text)) socket.write(answered);
    if (/^GET \/half/.test(text)) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    if (/^GET \/odd/.test(text)) socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n');
  });
  [patient, hurried] = await Promise.all([
    openEntries(gateway, destination.url),
    openEntries(gateway, destination.url, { host: 'hurried', timeoutMs: 300 }),
  ]);
});
afterEach(() => {
  destination.connections.length = 0;
  gateway.accessLog.length = 0;
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

/** An encoded body is forwarded as it comes. */
const begun = {
  more: 'Content-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n',
  body: 'a',
};
const heard = (path: string) => destination.heard(`${path} `);

function written(
  { target, keys }: Entry,
  line: string,
  { more = '', body = '' }: { more?: string; body?: string },
): string {
  const [method, path = ''] = line.split(' ');
  return `${method} ${target(path)} HTTP/1.1\r\n${keys}${more}\r\n${body}`;
}

it('no request goes out for callers that leave while their tokens are looked up, by every entry', async () => {
  const { database, config, shares } = gateway.ctx;
  const id = await gateway.token('data of a caller who left');
  const held = Array.from({ length: config.DATABASE_CONNECTIONS }, () =>
    database.shareOf(randomUUID()).query('SELECT pg_sleep(1.5)'),
  );
  const body = `{{ ${id} }}`;
  const more = `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n`;
  const callers = await Promise.all(
    Object.values(patient).map((entry) => entry.call(written(entry, 'POST /left', { more, body }))),
  );
  await waitFor(() => database.shares.state.waiting === callers.length);
  for (const { socket } of callers) socket.destroy();
  const left = (): number => gateway.accessLog.join('').split('"left":true').length - 1;
  await waitFor(() => left() === callers.length);
  expect(database.shares.state.waiting).toBe(callers.length);
  await Promise.all(held);
  await waitFor(() => shares.calls.state.held === 0);
  expect(heard('/left')).toBeUndefined();
});

describe.each(connectionNames)('%s', (name) => {
  function call(
    line: string,
    { entries = patient, more = '', body = '' } = {},
  ): Promise<RawCaller> {
    const entry = entries[name];
    return entry.call(written(entry, line, { more, body }));
  }

  /** True if this many calls at once succeed. The destination may have two. */
  async function callsWork(count: number, entries = patient): Promise<boolean> {
    const callers = await Promise.all(
      Array.from({ length: count }, () => call('GET /now', { entries })),
    );
    await waitFor(() => callers.every(({ text }) => /\r\n\r\n./.test(text)));
    for (const { socket } of callers) socket.destroy();
    return callers.every(({ text }) => text.endsWith('\r\n\r\nok'));
  }

  describe('two calls that end early leave nothing behind', () => {
    it.each([
      ['waits for its answer', 'GET /wait', {}],
      ['is within its answer', 'GET /half', {}],
      ['is within its body', 'POST /body', begun],
    ])('when the caller leaves while it %s', async (_, line, sent) => {
      const path = line.slice(line.indexOf('/'));
      const callers = await Promise.all([1, 2].map((n) => call(`${line}/${n}`, sent)));
      await waitFor(() => heard(`${path}/1`) && heard(`${path}/2`));
      if (path === '/half') await waitFor(() => callers.every(({ text }) => text.endsWith('half')));
      for (const { socket } of callers) socket.destroy();
      await nothingStays(patient);
    });

    it.each([
      ['does not come', 504, 'GET /wait'],
      ['is none', 502, 'GET /odd'],
    ])('when the answer %s', async (_, status, line) => {
      const sent = { entries: hurried };
      const callers = await Promise.all([1, 2].map((n) => call(`${line}/${n}`, sent)));
      await waitFor(() => callers.every((caller) => caller.status === status));
      await nothingStays(hurried);
      for (const { socket } of callers) socket.destroy();
    });

    /** Expects no connection, old or new, and both places of the destination free. */
    async function nothingStays(entries: Entries): Promise<void> {
      await waitFor(() => destination.connections.every(({ ended }) => ended));
      expect(await callsWork(1, entries)).toBe(true);
      expect(destination.connections).toHaveLength(3);
      expect(await callsWork(2, entries)).toBe(true);
      expect(destination.connections).toHaveLength(5);
    }
  });

  it('no request goes out for callers that leave while the connection is being opened', async () => {
    const authority = createAuthority();
    const requests: string[] = [];
    const server = createHttpsServer(authority.issue('IP:127.0.0.1'), ({ url }, response) => {
      requests.push(url ?? '');
      response.end('ok');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const line = await startTcpRelay(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const tls = { certificate: null, privateKey: null, authority: authority.ca };
      const entries = await openEntries(gateway, line.url, { host: randomUUID(), tls });
      line.stall();
      const callers = await Promise.all(
        ['GET /1', 'GET /2'].map((asked) => call(asked, { entries })),
      );
      await waitFor(async () => {
        const busy = await call('GET /3', { entries });
        await waitFor(() => busy.text !== '');
        return busy.status === 503;
      });
      for (const { socket } of callers) socket.destroy();
      await waitFor(() => gateway.accessLog.join('').split('"left":true').length === 3);
      await line.restore();
      await waitFor(() => callsWork(2, entries));
      expect(new Set(requests)).toEqual(new Set(['/now']));
    } finally {
      await line.close();
      server.closeAllConnections();
      server.close();
    }
  });

  describe('an answer before the end of the body', () => {
    const refusal = 'HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\n';

    it('reaches the caller whole although a reset follows it', async () => {
      const caller = await call('POST /early', begun);
      await waitFor(() => heard('/early')?.text.endsWith('a'));
      heard('/early')?.socket.write(`${refusal}big`);
      await waitFor(() => caller.text.endsWith('\r\n\r\nbig'));
      heard('/early')?.socket.resetAndDestroy();
      caller.socket.write('bcdefghi');
      expect(await callsWork(2)).toBe(true);
      expect(caller.status).toBe(413);
      caller.socket.destroy();
    });

    it('that a reset breaks off is not taken for a whole one', async () => {
      const caller = await call('POST /broken', begun);
      await waitFor(() => heard('/broken')?.text.endsWith('a'));
      heard('/broken')?.socket.write(`${refusal}b`);
      await waitFor(() => caller.text.endsWith('\r\n\r\nb'));
      heard('/broken')?.socket.resetAndDestroy();
      await waitFor(() => caller.ended);
      expect(caller.text.endsWith('\r\n\r\nb')).toBe(true);
      expect(await callsWork(2)).toBe(true);
    });
  });

  it.each(['DELETE', 'OPTIONS', 'POST'])('%s in chunks arrives as it was sent', async (method) => {
    const type = 'Content-Type: application/octet-stream\r\n';
    const caller = await call(`${method} /chunks`, {
      more: `${type}Transfer-Encoding: chunked\r\n`,
      body: '5\r\nfirst\r\n',
    });
    await waitFor(() => heard('/chunks')?.text.endsWith('first\r\n'));
    caller.socket.write('4\r\nlast\r\n0\r\n\r\n');
    await waitFor(() => heard('/chunks')?.text.endsWith('0\r\n\r\n'));
    const [head, ...body] = heard('/chunks')?.text.split('\r\n\r\n') ?? [];
    expect(head).toMatch(/\r\ntransfer-encoding: chunked$/i);
    expect(head).not.toMatch(/content-length/i);
    expect(body.join('\r\n\r\n')).toBe('5\r\nfirst\r\n4\r\nlast\r\n0\r\n\r\n');
    heard('/chunks')?.socket.write(answered);
    await waitFor(() => caller.text.endsWith('\r\n\r\nok'));
    caller.socket.destroy();
  });
});
