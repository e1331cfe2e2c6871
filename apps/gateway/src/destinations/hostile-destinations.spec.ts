import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { waitFor } from '@glovebox/testing';
import { startSpecForward, type SpecForward } from '../forward/spec-forward';
import { connectionNames, openEntries, type Entries, type Entry } from '../spec-entries';
import { startRawServer, type RawServer } from '../spec-sockets';

type Behaviour = (socket: Socket, request: string) => void;

let gateway: SpecForward;
let entries: Entries;
let key: string;
let raw: RawServer;
const requests: string[] = [];
let behave: Behaviour;
const proxyKeys = new Map<number, string>();

beforeAll(async () => {
  gateway = await startSpecForward({ BODY_IDLE_MS: '400' });
  key = await gateway.application(['token:use']);
  const unanswered = new WeakMap<Socket, string>();
  raw = await startRawServer((socket, _, chunk) => {
    const request = (unanswered.get(socket) ?? '') + chunk;
    const isHeadWhole = request.includes('\r\n\r\n') && /^[A-Z]+ \//.test(request);
    unanswered.set(socket, isHeadWhole ? '' : request);
    if (!isHeadWhole) return;
    requests.push(request);
    behave(socket, request);
  });
  for (const timeoutMs of [300, 2_000, 5_000]) {
    proxyKeys.set(timeoutMs, await gateway.proxy(raw.url, { timeoutMs }));
  }
  entries = await openEntries(gateway, raw.url);
});

afterAll(async () => {
  await gateway.close();
  await raw.close();
});

afterEach(async () => {
  const { proxyKey } = destination(says(ok('well', 'Connection: close\r\n')));
  expect(await call(proxyKey)).toMatchObject({ status: 200, text: 'well' });
});

/** Sets the behaviour of the destination from now on. All calls use the same connections. */
function destination(behaviour: Behaviour, timeoutMs = 5_000) {
  behave = behaviour;
  requests.length = 0;
  return { proxyKey: proxyKeys.get(timeoutMs) ?? '' };
}

const isEveryConnectionClosed = (): boolean => raw.connections.every(({ ended }) => ended);

const ok = (body: string, headers = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;

interface Outcome {
  readonly status: number | undefined;
  readonly text: string;
  /** The answer ended in a way that HTTP allows. */
  readonly whole: boolean;
  readonly destinationStatus: unknown;
  readonly trailers: object;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
}

const binary = { 'Content-Type': 'application/octet-stream' };

function headersFor(proxyKey: string, headers: Record<string, string> = {}) {
  return { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, ...headers };
}

async function call(proxyKey: string, sent: Sent = {}): Promise<Outcome> {
  const outgoing = httpRequest(`${gateway.url}/proxy`, {
    method: sent.method ?? 'GET',
    agent: sent.agent ?? false,
    headers: headersFor(proxyKey, sent.headers),
  });
  outgoing.end(sent.body);
  return outcomeOf(outgoing);
}

async function callBy({ call: open, target, keys }: Entry): Promise<Outcome> {
  const { socket } = await open('');
  const headers = keys
    .trim()
    .split('\r\n')
    .map((line) => line.split(': '));
  const outgoing = httpRequest({
    ...{ path: target('/'), headers: Object.fromEntries(headers) as Record<string, string> },
    createConnection: () => socket,
  });
  outgoing.end();
  return outcomeOf(outgoing);
}

async function outcomeOf(outgoing: ReturnType<typeof httpRequest>): Promise<Outcome> {
  let answer: IncomingMessage | undefined;
  let text = '';
  try {
    [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    for await (const chunk of answer) text += String(chunk);
  } catch {
    // The answer broke off, and `whole` shows it.
  }
  outgoing.on('error', () => undefined);
  return {
    status: answer?.statusCode,
    text,
    whole: answer?.complete ?? false,
    destinationStatus: answer?.headers['svc-proxy-destination-status'],
    trailers: answer?.trailers ?? {},
  };
}

const refused = (status: number, code: string) => ({
  status,
  whole: true,
  destinationStatus: undefined,
  text: expect.stringMatching(
    new RegExp(`^\\{"proxy_error":\\{.*"status":${status},"code":"${code}"`),
  ) as string,
});

const says =
  (text: string): Behaviour =>
  (socket) =>
    socket.write(text, 'latin1');
const saysAndEnds =
  (text: string): Behaviour =>
  (socket) =>
    socket.end(text, 'latin1');
const saysAndResets =
  (text: string): Behaviour =>
  (socket) => {
    if (text === '') socket.resetAndDestroy();
    else socket.write(text, 'latin1', () => setTimeout(() => socket.resetAndDestroy(), 50));
  };
const drips =
  (text: string, forever: string): Behaviour =>
  (socket) => {
    socket.write(text, 'latin1');
    const timer = setInterval(() => socket.write(forever, 'latin1'), 20);
    socket.on('close', () => clearInterval(timer));
  };
const floods =
  (text: string, forever: string): Behaviour =>
  (socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(forever.repeat(100), 'latin1'));
    };
    socket.on('drain', more).write(text, 'latin1');
    more();
  };

describe('a call gets 502 destination_unreachable, and nothing of the answer,', () => {
  it.each<[string, Behaviour]>([
    ['hangs up without a word', saysAndEnds('')],
    ['resets without a word', saysAndResets('')],
    ['resets within the status line', saysAndResets('HTTP/1.1 20')],
    ['hangs up within the headers', saysAndEnds('HTTP/1.1 200 OK\r\nContent-Le')],
    ['does not speak HTTP', says('SSH-2.0-OpenSSH_9.6\r\n')],
    ['says a version of its own', says('HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n')],
    ['says no status', says('HTTP/1.1 abc\r\n\r\n')],
    ['says a status of two digits', says('HTTP/1.1 20 OK\r\n\r\n')],
    ['says a status below 100', says('HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n')],
    ['says a header without colon', says('HTTP/1.1 200 OK\r\nnothing\r\n\r\n')],
    ['says a header with a space in its name', says('HTTP/1.1 200 OK\r\nA B: c\r\n\r\n')],
    ['says NUL in a header', says('HTTP/1.1 200 OK\r\nA: a\0b\r\nContent-Length: 0\r\n\r\n')],
    ['says a control character in a header', says(ok('x', 'A: a\x01b\r\n'))],
    ['says two lengths that differ', says(ok('x', 'Content-Length: 2\r\n'))],
    ['says two lengths that agree', says(ok('x', 'Content-Length: 1\r\n'))],
    ['says length and chunks', says(ok('x', 'Transfer-Encoding: chunked\r\n'))],
    [
      'says chunks and length',
      says('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\nx'),
    ],
    ['says a negative length', says('HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n')],
    ['says a length that is no number', says('HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\nx')],
    [
      'encodes the transfer otherwise',
      saysAndEnds('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx'),
    ],
    [
      'switches protocols unasked',
      says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    ['says 103 for ever', floods('', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['says headers for ever', floods('HTTP/1.1 200 OK\r\n', 'A: b\r\n')],
    ['says a header of 100 KB', says(ok('x', `A: ${'a'.repeat(100_000)}\r\n`))],
  ])('a destination that %s', async (_, behaviour) => {
    const { proxyKey } = destination(behaviour, 2_000);
    expect(await call(proxyKey)).toMatchObject(refused(502, 'destination_unreachable'));
    await waitFor(isEveryConnectionClosed);
  });
});

describe('a call gets 504 destination_timeout', () => {
  it.each<[string, Behaviour]>([
    ['says nothing', () => undefined],
    ['drips its head', drips('HTTP/1.1 200 OK\r\nA: ', 'x')],
    ['drips 103', drips('', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['hangs after 103', says('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('a destination that %s', async (_, behaviour) => {
    const { proxyKey } = destination(behaviour, 300);
    expect(await call(proxyKey)).toMatchObject(refused(504, 'destination_timeout'));
    await waitFor(isEveryConnectionClosed);
  });

  it('from a destination that reads nothing of the body', async () => {
    let stuck: Socket | undefined;
    const { proxyKey } = destination((socket) => {
      stuck = socket.pause();
    });
    const body = Buffer.alloc(20_000_000);
    const sent = { method: 'POST', headers: binary, body };
    const outcome = await call(proxyKey, sent);
    stuck?.destroy();
    expect(outcome).toMatchObject({ status: 504 });
  });
});

describe.each(connectionNames)('half an answer %s is never taken for a whole one', (name) => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  it.each<[string, Behaviour]>([
    ['resets after its head', saysAndResets(`${head}Content-Length: 5\r\n\r\n`)],
    ['hangs up before its length', saysAndEnds(`${head}Content-Length: 5\r\n\r\n1234`)],
    ['resets before its length', saysAndResets(`${head}Content-Length: 5\r\n\r\n1234`)],
    [
      'closes as announced, before its length',
      saysAndEnds(`${head}Connection: close\r\nContent-Length: 5\r\n\r\n1234`),
    ],
    ['hangs up within a chunk', saysAndEnds(`${chunked}5\r\n1234`)],
    ['resets within a chunk', saysAndResets(`${chunked}5\r\n1234`)],
    ['hangs up before the last chunk', saysAndEnds(`${chunked}4\r\n1234\r\n`)],
    ['says a chunk size that is no number', says(`${chunked}zz\r\n1234`)],
    ['says a chunk longer than its size', says(`${chunked}4\r\n123456\r\n0\r\n\r\n`)],
    ['resets where the end would be the end of the connection', saysAndResets(`${head}\r\n1234`)],
    ['stops within its body', says(`${head}Content-Length: 5\r\n\r\n1234`)],
    ['stops before the last chunk', says(`${chunked}4\r\n1234\r\n`)],
    ['says trailers for ever', floods(`${chunked}4\r\n1234\r\n0\r\n`, 'A: b\r\n')],
  ])('when it comes from a destination that %s', async (_, behaviour) => {
    destination(behaviour);
    expect(await callBy(entries[name])).toMatchObject({ whole: false });
    await waitFor(isEveryConnectionClosed);
  });
});

it.each(['at /proxy', 'in a tunnel without TLS'] as const)(
  'half an answer %s is not taken for a whole one by a caller of HTTP/1.0 either, which sees a reset and not an end',
  async (name) => {
    destination((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n1234');
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
    const { call: open, target, keys } = entries[name];
    const { socket } = await open(`GET ${target('/')} HTTP/1.0\r\n${keys}\r\n`);
    const ended = await new Promise((resolve) => {
      socket.on('end', () => resolve('end')).on('error', (error) => resolve(error));
    });
    expect(ended).toMatchObject({ code: 'ECONNRESET' });
  },
);

describe('an odd but whole answer', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  it.each<[string, Behaviour, object]>([
    [
      '103 before the answer',
      says(`HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${ok('x')}`),
      { status: 200, text: 'x' },
    ],
    [
      'a body without length or chunks',
      saysAndEnds(`${head}\r\n1234`),
      { status: 200, text: '1234' },
    ],
    [
      'HTTP/1.0 without a length',
      saysAndEnds('HTTP/1.0 200 OK\r\n\r\n1234'),
      { status: 200, text: '1234' },
    ],
    [
      'HTTP/1.0 with a length',
      saysAndEnds('HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n1234'),
      { status: 200, text: '1234' },
    ],
    [
      'Connection: close',
      saysAndEnds(ok('1234', 'Connection: close\r\n')),
      { status: 200, text: '1234' },
    ],
    ['more than its length', says(`${ok('1234')}5678`), { status: 200, text: '1234' }],
    [
      '204 with a length and a body',
      says('HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n1234'),
      { status: 204, text: '' },
    ],
    [
      '204 with chunks',
      says('HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n0\r\n\r\n'),
      { status: 204, text: '' },
    ],
    [
      '304 with a length',
      says('HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n'),
      { status: 304, text: '' },
    ],
    ['a status of its own', says('HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n'), { status: 799 }],
    ['header bytes above ASCII', says(ok('x', 'A: \xe9\r\n')), { status: 200, text: 'x' }],
  ])('with %s is passed on', async (_, behaviour, expected) => {
    const { proxyKey } = destination(behaviour);
    const outcome = await call(proxyKey);
    expect(outcome).toMatchObject({ ...expected, whole: true });
    expect(outcome.destinationStatus).toBe(String(outcome.status));
  });

  it.each([
    ['a length', `${head}Content-Length: 4\r\n\r\n`],
    ['a body', ok('1234')],
  ])('with %s to HEAD is passed on', async (_, text) => {
    const { proxyKey } = destination(says(text));
    const outcome = await call(proxyKey, { method: 'HEAD' });
    expect(outcome).toMatchObject({ status: 200, text: '', whole: true });
  });

  it('is passed on with its trailers', async () => {
    const { proxyKey } = destination(
      says(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n' +
          'Checksum: abc\r\nSet-Cookie: a=b\r\nSVC-Trace-Id: forged\r\n\r\n',
      ),
    );
    const { whole, trailers } = await call(proxyKey);
    expect([whole, trailers]).toEqual([true, { checksum: 'abc' }]);
  });

  it('does not let a second one behind it reach another caller', async () => {
    const { proxyKey } = destination((socket, request) => {
      const answer = ok(request.includes('first') ? 'first' : 'second');
      socket.write(requests.length === 1 ? answer + ok('evil') : answer);
    });
    const texts = [];
    for (const name of ['first', 'second', 'second']) {
      texts.push((await call(proxyKey, { headers: { 'X-Name': name } })).text);
    }
    expect(texts).toEqual(['first', 'second', 'second']);
  });
});

describe('a keep-alive connection that breaks when it is used again', () => {
  const breaksSecond: Behaviour = (socket, request) => {
    if (request.includes('opens')) socket.write(ok('opened'));
    else if (requests.length === 2) socket.resetAndDestroy();
    else socket.write(ok('repeated', 'Connection: close\r\n'));
  };
  const open = (proxyKey: string) => call(proxyKey, { headers: { 'X-Name': 'opens' } });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('repeats a %s once', async (method) => {
    const { proxyKey } = destination(breaksSecond);
    expect(await open(proxyKey)).toMatchObject({ text: 'opened' });
    expect(await call(proxyKey, { method })).toMatchObject({ status: 200, whole: true });
    expect(requests).toHaveLength(3);
  });

  it.each(['POST', 'PATCH'])('does not repeat a %s', async (method) => {
    const { proxyKey } = destination(breaksSecond);
    await open(proxyKey);
    expect(await call(proxyKey, { method })).toMatchObject({ status: 502 });
    expect(requests).toHaveLength(2);
  });

  it('repeats no request twice, and none on a new connection', async () => {
    const { proxyKey } = destination((socket, request) => {
      if (request.includes('opens')) socket.write(ok('opened'));
      else socket.resetAndDestroy();
    });
    expect(await call(proxyKey)).toMatchObject({ status: 502 });
    expect(requests).toHaveLength(1);
    await open(proxyKey);
    expect(await call(proxyKey)).toMatchObject({ status: 502 });
    expect(requests).toHaveLength(4);
  });
});

describe('a streamed body', () => {
  it('is read to its end when its caller gets the answer early, and the connection goes on', async () => {
    const { proxyKey } = destination((socket) => {
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = Buffer.alloc(20_000_000);
    const early = await call(proxyKey, { method: 'POST', headers: binary, body, agent });
    expect(early).toMatchObject({ status: 413, text: 'big', whole: true });
    const { proxyKey: next } = destination(says(ok('next', 'Connection: close\r\n')));
    expect(await call(next, { agent })).toMatchObject({ status: 200, text: 'next' });
    agent.destroy();
  });

  it('shorter than its length completes no request, and gets 408 when the rest does not come', async () => {
    const { proxyKey } = destination(() => undefined);
    const outgoing = httpRequest(`${gateway.url}/proxy`, {
      method: 'POST',
      agent: false,
      headers: headersFor(proxyKey, { 'Content-Encoding': 'gzip', 'Content-Length': '10' }),
    });
    outgoing.write('12345');
    const outcome = await outcomeOf(outgoing);
    expect(outcome).toMatchObject(refused(408, 'invalid_request'));
    expect(requests[0]).toMatch(/content-length: 10\r\n\r\n12345$/i);
    await waitFor(isEveryConnectionClosed);
  });
});
