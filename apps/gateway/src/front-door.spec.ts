import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateApiKey } from '@glovebox/access';
import { waitFor } from '@glovebox/testing';
import { beginCall, partEnded } from './call/call-lifetime';
import { CallerResponse } from './connection/caller-response';
import { createFrontDoor } from './front-door';
import { startSpecGateway, type SpecGateway } from './spec-gateway';
import { RawCaller, startRawServer, type RawServer } from './spec-sockets';

let gateway: SpecGateway;
let management: RawServer;
let answer: string;
const ok = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';

beforeAll(async () => {
  management = await startRawServer((socket, text) => {
    // A silent one searches no body of 20 MB again with each part of it.
    if (answer !== '' && /\r\n\r\n/.test(text)) socket.write(answer);
  });
  gateway = await startSpecGateway({
    MANAGEMENT_URL: management.url,
    MANAGEMENT_TIMEOUT_MS: '500',
    ANSWER_WHOLE_MS: '1500',
  });
});
afterAll(async () => {
  await gateway.close();
  await management.close();
});
beforeEach(() => {
  answer = ok;
});
afterEach(() => {
  for (const { socket } of management.connections) socket.destroy();
  management.connections.length = 0;
});

/** Sends a request and returns the caller's side and the text that the management API got. */
async function ask(head: string, body = ''): Promise<{ caller: RawCaller; heard: string }> {
  const caller = new RawCaller(
    gateway.port,
    `${head}\r\nHost: a.example\r\nConnection: close\r\n\r\n${body}`,
  );
  await waitFor(() => caller.ended);
  return { caller, heard: management.connections.map(({ text }) => text).join('') };
}

it('a request that broke off is answered once, although the management API answers too', async () => {
  const caller = new RawCaller(
    gateway.port,
    'POST /tokens HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nZZ\r\n',
  );
  await waitFor(() => caller.ended);
  expect(caller.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(caller.status).toBe(400);
  // An answer that nobody waits for would end the process.
  await waitFor(() => management.connections.every(({ ended }) => ended));
  expect((await ask('GET /tokens HTTP/1.1')).caller.status).toBe(200);
});

describe('a request on its way to the management API', () => {
  it('loses hop-by-hop headers and the caller’s forwarding headers', async () => {
    const gone = [
      'Keep-Alive',
      'Proxy-Authorization',
      'Proxy-Connection',
      'TE',
      'Trailer',
      'Upgrade',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'Forwarded',
      'X-Hop',
    ];
    const kept = [
      'Host: a.example',
      'SVC-API-KEY: k',
      'SVC-TRACE-ID: t',
      'Cookie: c',
      'X-Kept: 1',
      'X-Kept: 2',
    ];
    const { caller, heard } = await ask(
      [
        'GET /tokens HTTP/1.1',
        ...gone.map((name) => `${name}: gone`),
        ...kept.slice(1),
        'Connection: x-hop',
      ].join('\r\n'),
    );
    expect(caller.status).toBe(200);
    const lines = heard.toLowerCase().split('\r\n');
    for (const line of kept) expect(lines).toContain(line.toLowerCase());
    expect(heard).not.toMatch(/gone/);
  });

  it.each(['//a//b/?c=//d&e=%2F', '/%7Ea/./b?x=1?y', '/a?b={c}|"d"', '/http:/a', '/a;b=1//'])(
    'keeps %s byte for byte',
    async (url) => {
      const { heard } = await ask(`GET ${url} HTTP/1.1`);
      expect(heard.split(' ', 2)[1]).toBe(url);
    },
  );

  it.each<[string, string, string, RegExp]>([
    ['POST', 'Content-Length: 2', '{}', /content-length: 2[^]*\r\n\r\n\{\}$/i],
    [
      'POST',
      'Transfer-Encoding: chunked',
      '2;x=y\r\n{}\r\n0\r\nX-Trailer: x\r\n\r\n',
      /transfer-encoding: chunked[^]*\r\n\r\n2\r\n\{\}\r\n0\r\n\r\n$/i,
    ],
    ['POST', 'X-A: no body', '', /content-length: 0[^]*\r\n\r\n$/i],
    ['GET', 'X-A: no body', '', /\r\n\r\n$/],
    [
      'DELETE',
      'Transfer-Encoding: chunked',
      '2\r\n{}\r\n0\r\n\r\n',
      /content-length: 2[^]*\r\n\r\n\{\}$/i,
    ],
    [
      'OPTIONS',
      'Transfer-Encoding: chunked',
      '2\r\n{}\r\n0\r\n\r\n',
      /content-length: 2[^]*\r\n\r\n\{\}$/i,
    ],
    [
      'PUT',
      'Expect: 100-continue\r\nContent-Length: 2',
      '{}',
      /content-length: 2[^]*\r\n\r\n\{\}$/i,
    ],
  ])('is framed anew for %s with %s', async (method, header, body, pattern) => {
    const { caller, heard } = await ask(`${method} /tokens HTTP/1.1\r\n${header}`, body);
    expect(caller.text).toMatch(/HTTP\/1\.1 200 /);
    expect(heard).toMatch(pattern);
    expect(heard.match(/content-length|transfer-encoding/gi)?.length ?? 0).toBeLessThan(2);
    expect(heard).not.toMatch(/expect/i);
  });

  it('gets 413 if it is a DELETE with too many chunks to be read whole', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const { caller, heard } = await ask(
      'DELETE /tokens/x HTTP/1.1\r\nTransfer-Encoding: chunked',
      chunk.repeat(20),
    );
    expect([caller.status, caller.json, heard]).toMatchObject([
      413,
      { code: 'payload_too_large' },
      '',
    ]);
  });

  it('ends when its caller leaves', async () => {
    answer = '';
    const caller = new RawCaller(gateway.port, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitFor(() => management.connections.length === 1);
    caller.socket.destroy();
    await waitFor(() => management.connections[0]?.ended === true);
  });

  it('is answered as an ordinary request when it offers a WebSocket', async () => {
    const { caller, heard } = await ask(
      'GET /tokens HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket',
    );
    expect(caller.status).toBe(200);
    expect(heard).not.toMatch(/upgrade/i);
  });
});

describe('an answer of the management API', () => {
  it('loses hop-by-hop headers and keeps service headers', async () => {
    answer =
      'HTTP/1.1 201 Created\r\nSVC-TRACE-ID: t\r\nTrailer: X-T\r\nUpgrade: h2c\r\nKeep-Alive: timeout=5\r\n' +
      'Connection: X-Hop, close\r\nX-Hop: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 2\r\n\r\n{}';
    const { caller } = await ask('POST /tokens HTTP/1.1');
    expect(caller.text).toMatch(
      /^HTTP\/1\.1 201 Created\r\nSVC-TRACE-ID: t\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n/,
    );
    expect(caller.text).not.toMatch(/trailer|upgrade|timeout|x-hop/i);
  });

  it.each([
    ['says nothing', ''],
    ['is no HTTP', 'nonsense\r\n\r\n'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['switches protocols', 'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ])('that %s becomes 503', async (_, bytes) => {
    answer = bytes;
    const { caller } = await ask('GET /tokens HTTP/1.1');
    expect([caller.status, caller.json]).toMatchObject([503, { code: 'service_unavailable' }]);
    expect(caller.text).toMatch(/retry-after: 1/i);
  });

  it('that breaks off is not taken for a whole one', async () => {
    answer = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf';
    const caller = new RawCaller(gateway.port, 'GET /tokens HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitFor(() => caller.text.endsWith('half'));
    management.connections[0]?.socket.destroy();
    await waitFor(() => caller.ended);
    expect(caller.text).toMatch(/content-length: 9/i);
  });

  describe('that is larger than what the system holds of it', () => {
    const bytes = 64 * 1024 * 1024;
    const begun = `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\nx`;
    /** Asks for it and reads nothing of it. */
    const askAndPause = async (): Promise<RawCaller> => {
      answer = begun;
      const caller = new RawCaller(gateway.port, 'GET /tokens HTTP/1.1\r\nHost: a\r\n\r\n');
      await waitFor(() => caller.text.includes('\r\n\r\n'));
      caller.socket.pause();
      management.connections[0]?.socket.write(Buffer.alloc(bytes - 2, 'x'));
      return caller;
    };
    const ended = async (caller: RawCaller): Promise<void> => {
      caller.socket.resume();
      await waitFor(() => caller.ended, { timeoutMs: 5_000 });
    };

    it('breaks off at its caller as well when the management API breaks off', async () => {
      const caller = await askAndPause();
      await waitFor(() => Number(management.connections[0]?.socket.bytesWritten) > bytes / 2);
      management.connections[0]?.socket.destroy();
      await ended(caller);
      expect(caller.text.length).toBeLessThan(bytes);
    });

    it('ends when its caller reads nothing', async () => {
      const caller = await askAndPause();
      await waitFor(() => management.connections[0]?.ended === true);
      await ended(caller);
      expect(caller.text.length).toBeLessThan(bytes);
    });

    it('ends after its time when its caller reads slowly', async () => {
      const caller = await askAndPause();
      const begunAt = performance.now();
      const sip = setInterval(() => caller.socket.read(200_000), 20);
      await waitFor(() => management.connections[0]?.ended === true, { timeoutMs: 5_000 });
      clearInterval(sip);
      expect(performance.now() - begunAt).toBeLessThan(3_000);
      await ended(caller);
      expect(caller.text.length).toBeLessThan(bytes);
    });
  });
});

describe('a body of 20 MB', () => {
  const megabyte = 1_000_000;
  const chunk = `${megabyte.toString(16)}\r\n${'x'.repeat(megabyte)}\r\n`;
  const bodies: [string, string, string][] = [
    ['a length', `Content-Length: ${20 * megabyte}`, 'x'.repeat(20 * megabyte)],
    ['chunks', 'Transfer-Encoding: chunked', `${chunk.repeat(20)}0\r\n\r\n`],
  ];
  const post = (framing: string): string =>
    `POST /tokens HTTP/1.1\r\nHost: a.example\r\n${framing}\r\n\r\n`;
  /** Reads only after the system has taken all the bytes, like many clients. */
  const statusForWhoWritesFirst = async (bytes: string): Promise<number> => {
    const caller = new RawCaller(gateway.port, bytes);
    caller.socket.pause();
    await waitFor(() => caller.ended || caller.socket.writableLength === 0, { timeoutMs: 10_000 });
    caller.socket.resume();
    await waitFor(() => caller.ended || caller.status > 0);
    caller.socket.destroy();
    return caller.status;
  };

  it.each(bodies)('with %s gets the answer that its head got', async (_, framing, body) => {
    answer = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno';
    expect(await statusForWhoWritesFirst(post(framing) + body)).toBe(401);
  });

  it.each([
    ['/proxy', 400],
    [`/reactors/${randomUUID()}/react`, 401],
  ])('that %s refuses for its head gets that answer too', async (path, status) => {
    for (const [, framing, body] of bodies) {
      const head = `POST ${path} HTTP/1.1\r\nHost: a.example\r\n${framing}\r\n\r\n`;
      expect(await statusForWhoWritesFirst(head + body)).toBe(status);
    }
  });

  it.each(bodies)('with %s is not passed on beyond the limit', async (_, framing, body) => {
    answer = '';
    const caller = new RawCaller(gateway.port, post(framing) + body);
    await waitFor(() => caller.ended, { timeoutMs: 10_000 });
    const heard = management.connections.reduce((sum, { text }) => sum + text.length, 0);
    expect(heard).toBeLessThan(17 * megabyte);
    // The management API is silent, and the limit holds whatever it would have said.
    expect([caller.status, caller.json]).toMatchObject([413, { code: 'payload_too_large' }]);
  });

  it('with a declared length is answered before it is read', async () => {
    answer = '';
    const [[, framing, body = '']] = bodies as [[string, string, string]];
    const caller = new RawCaller(gateway.port, post(framing) + body);
    await waitFor(() => management.connections.some(({ text }) => text.includes('\r\n\r\n')));
    expect(management.connections[0]?.text).toMatch(/content-length: 20000000[^]*\r\n\r\n$/i);
    expect(caller.socket.writableLength).toBeGreaterThan(0);
    caller.socket.destroy();
  });

  it('leaves the connection to the next request', async () => {
    answer = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno';
    const [[, framing, body = '']] = bodies as [[string, string, string]];
    const next = 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const caller = new RawCaller(gateway.port, post(framing) + body + next);
    await waitFor(() => caller.ended, { timeoutMs: 10_000 });
    expect(caller.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });
});

describe('while the lease of the definitions is over', () => {
  const callsMax = 8;
  let lone: SpecGateway;
  beforeAll(async () => {
    lone = await startSpecGateway({
      MANAGEMENT_URL: management.url,
      CALLS_MAX: String(callsMax),
    });
  });
  afterAll(() => lone.close());
  const held = (): number => lone.ctx.shares.calls.state.held;
  const get = (key: string, from?: string): RawCaller =>
    new RawCaller(
      lone.port,
      `GET /tokens HTTP/1.1\r\nHost: a\r\nSVC-API-KEY: ${key}\r\n\r\n`,
      from,
    );
  const useUp = async (key: string): Promise<RawCaller[]> => {
    const callers = Array.from({ length: callsMax }, () => get(key));
    const refused = (): RawCaller[] => callers.filter(({ status }) => status === 429);
    await waitFor(() => held() + refused().length === callsMax && refused().length > 0);
    return callers;
  };

  it('a caller that uses up its places leaves others theirs, since keys count for their last owner or their peer', async () => {
    const [greedy, other] = [
      await lone.application(['token:read']),
      await lone.application(['token:read'], randomUUID()),
    ];
    const { follower } = lone.ctx;
    await follower.stop();
    await waitFor(() => !follower.fresh());
    answer = '';
    for (const [first, second, from] of [
      [greedy, other, '127.0.0.1'],
      [generateApiKey(), generateApiKey(), '127.0.0.2'],
    ] as const) {
      const callers = await useUp(first);
      const before = held();
      const neighbour = get(second, from);
      await waitFor(() => held() === before + 1);
      expect(neighbour.text).toBe('');
      for (const { socket } of [...callers, neighbour]) socket.destroy();
      await waitFor(() => held() === 0);
    }
  });
});

it('a management API that says it is at work is waited for', async () => {
  answer = '';
  const caller = new RawCaller(gateway.port, 'GET /tokens HTTP/1.1\r\nHost: a\r\n\r\n');
  await waitFor(() => management.connections.length === 1);
  const [{ socket } = { socket: undefined }] = management.connections;
  const begun = performance.now();
  const working = setInterval(() => socket?.write('HTTP/1.1 102 Processing\r\n\r\n'), 100);
  await waitFor(() => performance.now() - begun > 1_200);
  clearInterval(working);
  expect(caller.text).toBe('');
  socket?.write(ok);
  await waitFor(() => caller.status === 200);
  caller.socket.destroy();
});

it('a call whose caller leaves before it is passed on ends and gives its place back', async () => {
  const frontDoor = createFrontDoor(gateway.ctx);
  const held = (): number => gateway.ctx.shares.calls.state.held;
  let ended = false;
  const server = createServer({ ServerResponse: CallerResponse }, (req, res) => {
    req.socket.destroy();
    res.once('close', () => {
      const call = beginCall(gateway.ctx, 'management', req, res);
      partEnded(call);
      void frontDoor(req, res, call)
        .finally(() => partEnded(call))
        .finally(() => (ended = true));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  new RawCaller((server.address() as AddressInfo).port, 'GET /tokens HTTP/1.1\r\nHost: a\r\n\r\n');
  await waitFor(() => ended);
  expect(held()).toBe(0);
  server.close();
});
