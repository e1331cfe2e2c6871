import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import {
  createAuthority,
  freePort,
  startDnsServer,
  waitFor,
  type DnsServer,
} from '@glovebox/testing';
import { FailureLog } from '../observing/failure-log';
import type { Call } from '../observing/call';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { startRawServer, type RawServer } from '../spec-sockets';

type Behaviour = (socket: Socket) => void;

let gateway: SpecGateway;
let dns: DnsServer;
let key: string;
let raw: RawServer;
let behave: Behaviour;

beforeAll(async () => {
  dns = await startDnsServer(({ name }) =>
    name === 'private.test' ? { addresses: ['10.1.2.3'] } : 'no such name',
  );
  gateway = await startSpecGateway({
    ACCESS_LOG: 'true',
    BODY_IDLE_MS: '400',
    EGRESS_DNS: dns.address,
    EGRESS_ALLOW_HTTP: 'true',
    DESTINATION_CALLS_MAX: '2',
  });
  key = await gateway.application(['token:use']);
  raw = await startRawServer((socket, _, chunk) => {
    if (chunk.includes('\r\n\r\n')) behave(socket);
  });
});

afterAll(async () => {
  await gateway.close();
  await raw.close();
  await dns.close();
});

interface Told {
  readonly status: number;
  readonly code: string;
  readonly cause: Record<string, unknown> | undefined;
  readonly text: string;
  readonly traceId: string;
}

async function call(
  proxyKey: string,
  { apiKey = key, body }: { apiKey?: string | null; body?: string } = {},
): Promise<Told> {
  const traceId = randomUUID();
  const answer = await fetch(`${gateway.url}/proxy`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(apiKey === null ? {} : { 'SVC-API-KEY': apiKey }),
      'SVC-PROXY-KEY': proxyKey,
      'SVC-TRACE-ID': traceId,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  const { proxy_error } = JSON.parse(text) as { proxy_error: Pick<Told, 'code' | 'cause'> };
  const { code, cause } = proxy_error;
  return { status: answer.status, code, cause, text, traceId };
}

const lineOf = (traceId: string): Promise<Record<string, unknown>> =>
  waitFor(() => {
    const line = gateway.accessLog
      .join('')
      .split('\n')
      .find((one) => one.includes(traceId));
    if (line === undefined) throw new Error('the call is not logged yet');
    return JSON.parse(line) as Record<string, unknown>;
  });

/** A proxy whose destination behaves so, on connections that no other test uses. */
async function behaving(behaviour: Behaviour, timeoutMs = 300): Promise<string> {
  behave = behaviour;
  for (const { socket } of raw.connections) socket.destroy();
  return gateway.proxy(raw.url, { timeoutMs });
}

const says =
  (text: string | Buffer): Behaviour =>
  (socket) =>
    void socket.end(text);

describe('a keyed caller of the tenant is told', () => {
  it.each<[string, Behaviour, number, string, RegExp]>([
    ['a close', says(''), 502, 'first_byte', /^closed without an answer$/],
    [
      'a reset',
      (socket) => socket.resetAndDestroy(),
      502,
      'first_byte',
      /^reset without an answer$/,
    ],
    ['silence', (socket) => void socket.resume(), 504, 'first_byte', /^no answer within 0\.3 s$/],
    ['garbage', says('SSH-2.0-secret\r\n'), 502, 'first_byte', /^the answer is not HTTP\/1\.1$/],
    [
      'a head that two could read differently',
      says('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'),
      502,
      'first_byte',
      /^the answer cannot be read: Content-Length that is not one number$/,
    ],
    [
      'a head without end',
      says(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`),
      502,
      'first_byte',
      /^the answer cannot be read: the head or the trailers are longer than 65536 bytes$/,
    ],
    ['half a head', says('HTTP/1.1 2'), 502, 'first_byte', /^closed after 10 bytes of the answer$/],
    [
      'an alert of TLS',
      says(Buffer.from('15030100020246', 'hex')),
      502,
      'first_byte',
      /^the port speaks TLS, the URL says http$/,
    ],
  ])('%s', async (_, behaviour, status, phase, reason) => {
    const told = await call(await behaving(behaviour));
    const { port } = raw;
    expect(told).toMatchObject({ status, cause: { phase, address: '127.0.0.1', port } });
    expect(told.cause?.reason).toMatch(reason);
    expect(told.text).not.toContain('secret');
    expect(await lineOf(told.traceId)).toMatchObject({ phase, reason: told.cause?.reason });
  });

  it('a refused connection, and what failed last when calls fail at once', async () => {
    const port = await freePort();
    const proxyKey = await gateway.proxy(`http://127.0.0.1:${port}`);
    const refused = { phase: 'connect', reason: 'refused', address: '127.0.0.1', port };
    expect((await call(proxyKey)).cause).toEqual(refused);
    for (let n = 0; n < 9; n += 1) await call(proxyKey);
    expect((await call(proxyKey)).cause).toEqual({
      ...refused,
      reason: '10 connections failed in a row; last: refused',
    });
  });

  it('a name that does not exist, without an address', async () => {
    const cause = { phase: 'name', reason: 'the name does not exist' };
    expect((await call(await gateway.proxy('https://no.test'))).cause).toEqual(cause);
    const withPort = await gateway.proxy('https://no.test:8443');
    expect((await call(withPort)).cause).toEqual({ ...cause, port: 8443 });
  });

  it('what is wrong with a certificate, without a name that is in it', async () => {
    const authority = createAuthority();
    const server = createHttpsServer(authority.issue('DNS:secret-name.test'), (_req, res) =>
      res.end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const tls = { certificate: null, privateKey: null, authority: authority.ca };
    const told = await call(await gateway.proxy(`https://127.0.0.1:${port}`, { tls }));
    expect(told.cause).toMatchObject({
      phase: 'tls',
      reason: 'the certificate is for another name',
    });
    expect(told.text).not.toContain('secret-name');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('that a token is unknown', async () => {
    const body = JSON.stringify({ card: `{{ ${randomUUID()} }}` });
    expect(await call(await behaving(says('')), { body })).toMatchObject({
      status: 400,
      code: 'unknown_token',
      cause: { phase: 'lookup', reason: 'a token is unknown, deleted or expired' },
    });
  });

  it('that the destination is full', async () => {
    const proxyKey = await behaving((socket) => void socket.resume(), 2_000);
    const waiting = [call(proxyKey), call(proxyKey)];
    await waitFor(
      () => raw.connections.filter(({ text, ended }) => text !== '' && !ended).length === 2,
    );
    expect(await call(proxyKey)).toMatchObject({
      status: 503,
      code: 'destination_busy',
      cause: { phase: 'connect', reason: '2 calls to it are under way' },
    });
    await Promise.all(waiting);
  });

  it('that steps cannot change the answer, although the request was delivered', async () => {
    const responseSteps = [
      { type: 'remove' as const, options: { location: 'body' as const, path: '$.a' } },
    ];
    await behaving(
      says(
        'HTTP/1.1 200 OK\r\nContent-Type: application/xml; x=1\r\nContent-Length: 4\r\n\r\n<a/>',
      ),
    );
    const told = await call(await gateway.proxy(raw.url, { responseSteps }));
    expect(told).toMatchObject({
      status: 502,
      code: 'destination_answer_invalid',
      cause: {
        phase: 'transform',
        reason: 'the answer is application/xml',
        destination_status: 200,
      },
    });
    expect(told.text).toContain(
      'The answer is application/xml; the request was delivered (200). Steps change JSON only.',
    );
  });

  it('a type or coding of the answer only where it can be no data', async () => {
    const responseSteps = [
      { type: 'remove' as const, options: { location: 'body' as const, path: '$.a' } },
    ];
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: ';
    const proxyKey = await gateway.proxy(raw.url, { responseSteps });
    await behaving(says(`${head}text/4242424242424242\r\n\r\n{}`));
    const typed = await call(proxyKey);
    expect(typed.cause?.reason).toBe('the answer is of a strange type');
    await behaving(
      says(`${head}application/json\r\nContent-Encoding: 4242-4242-4242-4242\r\n\r\n{}`),
    );
    const encoded = await call(proxyKey);
    expect(encoded).toMatchObject({ status: 502, code: 'destination_answer_invalid' });
    const lines = await Promise.all([lineOf(typed.traceId), lineOf(encoded.traceId)]);
    expect(JSON.stringify([typed, encoded, lines])).not.toContain('4242');
  });

  it('which step of a request failed, by its place', async () => {
    const proxyKey = await gateway.proxy(raw.url, {
      requestSteps: [
        { type: 'remove', options: { location: 'body', path: '$.a' } },
        {
          type: 'mask',
          options: { path: '$.card', expression: "{{ $.card | json: '$.none' }}" },
        },
      ],
    });
    expect((await call(proxyKey, { body: '{"card":{"a":1}}' })).cause).toEqual({
      phase: 'transform',
      reason: 'request_transforms.1 has an expression that does not fit the value',
    });
    expect((await call(proxyKey, { body: '{"card":' })).cause).toEqual({
      phase: 'transform',
      reason: 'request_transforms are given a body that is not JSON',
    });
  });
});

describe('nobody else is told', () => {
  const withoutTrace = ({ status, text }: Told) => ({ status, text });

  it('an anonymous caller, for whom refused and unreachable are one answer', async () => {
    const down = `http://127.0.0.1:${await freePort()}`;
    const refused = 'http://private.test';
    const [one, other, keyed] = await Promise.all([
      call(await gateway.proxy(down, { requireAuth: false }), { apiKey: null }),
      call(await gateway.proxy(refused, { requireAuth: false }), { apiKey: null }),
      call(await gateway.proxy(refused)),
    ]);
    expect(withoutTrace(one)).toEqual(withoutTrace(other));
    expect(withoutTrace(keyed)).toEqual(withoutTrace(other));
    expect(one.text).not.toContain('cause');
    expect(await lineOf(one.traceId)).toMatchObject({ phase: 'connect', reason: 'refused' });
    expect(await lineOf(other.traceId)).toMatchObject({
      phase: 'connect',
      reason:
        'refused by the egress policy: EGRESS_ALLOW does not name this address, which is not public',
    });
  });

  it('when calls of a refused destination fail at once', async () => {
    const proxyKey = await gateway.proxy('http://private.test:81');
    for (let n = 0; n < 10; n += 1) await call(proxyKey);
    const told = await call(proxyKey);
    expect(told).toMatchObject({ status: 502, cause: undefined });
    expect((await lineOf(told.traceId)).reason).toMatch(/^refused by the egress policy/);
  });

  it('a key of another tenant, or a wrong one', async () => {
    const foreign = await gateway.application(['token:use'], randomUUID());
    const proxyKey = await behaving(says(''));
    const anonymous = await gateway.proxy(raw.url, { requireAuth: false });
    for (const apiKey of [foreign, 'wrong']) {
      for (const proxy of [proxyKey, anonymous]) {
        expect((await call(proxy, { apiKey })).cause).toBeUndefined();
      }
    }
  });
});

describe('an answer that breaks off after its first byte', () => {
  it.each<[string, Behaviour, RegExp]>([
    [
      'reset',
      (socket) =>
        void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nab', () =>
          setTimeout(() => socket.resetAndDestroy(), 20),
        ),
      /^reset after 41 bytes of the answer$/,
    ],
    [
      'closed',
      says('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nab'),
      /^closed after 41 bytes of the answer$/,
    ],
    [
      'silent',
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nab'),
      /^nothing of the answer came for 0\.4 s$/,
    ],
    [
      'no chunks',
      says('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxx\r\n'),
      /^the answer cannot be read: /,
    ],
  ])('is told to the operator: %s', async (_, behaviour, reason) => {
    const proxyKey = await behaving(behaviour);
    const traceId = randomUUID();
    const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, 'SVC-TRACE-ID': traceId };
    const outgoing = httpRequest(`${gateway.url}/proxy`, { agent: false, headers });
    outgoing
      .on('error', () => undefined)
      .on('response', (answer) => answer.on('error', () => undefined).resume());
    outgoing.end();
    const line = await lineOf(traceId);
    expect(line).toMatchObject({ status: 200, phase: 'body' });
    expect(line.reason).toMatch(reason);
  });

  it('is no failure where the caller left', async () => {
    const proxyKey = await behaving(
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nab'),
    );
    const traceId = randomUUID();
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `GET /proxy HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${key}\r\nSVC-PROXY-KEY: ${proxyKey}\r\n` +
        `SVC-TRACE-ID: ${traceId}\r\n\r\n`,
    );
    socket.once('data', () => socket.destroy());
    const line = await lineOf(traceId);
    expect(line.left).toBe(true);
    expect(line.reason).toBeUndefined();
  });
});

describe('where no access log is written', () => {
  it('a destination that is down fills no log, however often it is called', () => {
    const lines: Record<string, unknown>[] = [];
    const log = new FailureLog({ warn: (line: object) => void lines.push({ ...line }) } as never);
    const failed = (proxyId: string, n: number): Call =>
      ({
        traceId: `trace-${n}`,
        proxyId,
        problem: {
          code: 'destination_unreachable',
          failure: { phase: 'body', reason: `reset after ${n} bytes of the answer` },
        },
      }) as unknown as Call;
    for (let n = 0; n < 5_000; n += 1) log.add(failed('one', n));
    expect(lines).toHaveLength(1);
    for (let n = 0; n < 5_000; n += 1) log.add(failed(`proxy ${n}`, n));
    expect(lines.length).toBeLessThanOrEqual(101);
    log.flush();
    expect(lines.length).toBeLessThanOrEqual(103);
    expect(lines).toContainEqual(
      expect.objectContaining({ proxy_id: 'one', count: 4_999, trace_id: 'trace-4999' }),
    );
    expect(lines.at(-1)).toMatchObject({ mixed: true });
  });

  it('a tenant of many destinations that are down hides the failures of no other tenant', () => {
    const lines: Record<string, unknown>[] = [];
    const log = new FailureLog({ warn: (line: object) => void lines.push({ ...line }) } as never);
    const fail = (tenantId: string, proxyId: string): void => {
      const failure = { phase: 'connect', reason: 'refused' };
      const problem = { code: 'destination_unreachable', failure };
      log.add({ traceId: 'trace', tenantId, proxyId, problem } as unknown as Call);
    };
    for (const _second of [1, 2]) {
      for (let n = 0; n < 1_000; n += 1) fail('loud', `proxy ${n}`);
      fail('quiet', 'one');
      expect(lines.at(-1)).toMatchObject({ tenant_id: 'quiet', proxy_id: 'one' });
      log.flush();
    }
  });
});
