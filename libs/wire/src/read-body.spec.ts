import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { readAtMost, readBody } from './read-body';
import { readOn } from './read-on';

const reading = { idleMs: 30_000, wholeMs: 30_000, keep: () => undefined };
const body = Buffer.alloc(8_000_000, 'x');

let server: Server;
let read: (req: IncomingMessage) => Promise<unknown>;

beforeAll(async () => {
  server = createServer((req, res) => {
    read(req).then(
      () => res.end(),
      () => res.writeHead(400).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function send(): Promise<number | undefined> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, method: 'POST', headers: { 'content-length': body.length } });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  if (!sent.writableFinished) await once(sent, 'finish');
  return answer.statusCode;
}

/** The most bytes of the body that come between two looks at all sockets. */
function mostAtOnce(req: IncomingMessage): () => number {
  let [most, now] = [0, 0];
  req.on('data', (chunk: Buffer) => {
    if (now === 0) setImmediate(() => (now = 0));
    now += chunk.length;
    most = Math.max(most, now);
  });
  return () => most;
}

/** A part that was asked for and one that is on its way. */
const atOnceMax = 4 * 64 * 1024;

describe('a large body', () => {
  it('is read part by part, with other sockets read in between', async () => {
    let most = () => Infinity;
    let length = 0;
    read = async (req) => {
      most = mostAtOnce(req);
      length = (await readBody(req, body.length, reading)).length;
    };
    expect([await send(), length]).toEqual([200, body.length]);
    expect(most()).toBeLessThanOrEqual(atOnceMax);
  });

  it('is discarded part by part when nobody wants it', async () => {
    let most = () => Infinity;
    read = async (req) => {
      most = mostAtOnce(req);
      readOn(req);
      await once(req, 'end');
    };
    expect(await send()).toBe(200);
    expect(most()).toBeLessThanOrEqual(atOnceMax);
  });

  it('is not read further once it is known to be too large', async () => {
    let rest = 0;
    read = async (req) => {
      const { bytes, isWhole } = await readAtMost(req, 200_000, reading);
      expect([bytes.length > 200_000, isWhole]).toEqual([true, false]);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      expect(req.isPaused()).toBe(true);
      req.on('data', (chunk: Buffer) => (rest += chunk.length));
      await once(req.resume(), 'end');
      rest += bytes.length;
    };
    expect(await send()).toBe(200);
    expect(rest).toBe(body.length);
  });

  it('is kept up to the part that is not admitted', async () => {
    let kept = 0;
    let seen = 0;
    const admit = (chunk: Buffer): void => {
      seen += chunk.length;
      if (seen > 300_000) throw new Error('too much');
    };
    read = async (req) => {
      const keep = (bytes: number): void => void (kept += bytes);
      try {
        await readBody(req, body.length, { ...reading, keep }, admit);
      } finally {
        readOn(req);
      }
    };
    expect(await send()).toBe(400);
    expect(kept).toBeLessThan(1_000_000);
  });
});

it('reading a body fails at once when its caller has left', async () => {
  let outcome: Promise<unknown> = Promise.resolve('nothing came');
  const server = createServer((req) => {
    const left = new Promise((resolve) => req.once('close', resolve));
    req.on('error', () => undefined);
    req.socket.destroy();
    outcome = left.then(() =>
      readBody(req, 1_000, { idleMs: 60_000, wholeMs: 60_000, keep: () => undefined }),
    );
    outcome.catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  caller.on('error', () => undefined);
  caller.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
  await once(caller, 'close');
  await expect(outcome).rejects.toThrow('broke off');
  server.close();
});
