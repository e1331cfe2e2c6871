import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer as createRawServer, type AddressInfo, type Socket } from 'node:net';
import type { Server as RawServer } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { create, runningProduct, until } from '../product';

const product = runningProduct();
const gatewayPort = Number(new URL(product.baseUrl).port);
const gatewayPid = product.pids.gateway;
if (gatewayPid === undefined) throw new Error('no process id of the gateway');

const streamBytes = 500_000_000;
/** Memory that the process takes for its first streams, of whatever length, is taken only once. */
const warmUpBytes = 50_000_000;
const growthMaxBytes = 50_000_000;
const leaversTotal = 10_000;
const wave = 250;
const abortedWithinMs = 5_000;
/** Connections to Postgres and Redis come and go. */
const descriptorsSlack = 10;

function memory(): number {
  const status = readFileSync(`/proc/${gatewayPid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

const descriptors = (): number => readdirSync(`/proc/${gatewayPid}/fd`).length;

async function listen(server: Server | RawServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function proxyTo(destinationUrl: string): Promise<Record<string, string>> {
  const body = { name: 'streams', destination_url: destinationUrl };
  const { key } = await create(product, '/proxies', body);
  return {
    'SVC-API-KEY': product.privateKey,
    'SVC-PROXY-KEY': String(key),
    'Content-Type': 'application/octet-stream',
  };
}

/** A stream of this many bytes, as fast as they are read. */
function source(bytes: number): Readable {
  const chunk = Buffer.alloc(65_536, 'x');
  let left = bytes;
  return new Readable({
    read() {
      const next = chunk.subarray(0, Math.min(left, chunk.length));
      left -= next.length;
      this.push(next.length > 0 ? next : null);
    },
  });
}

/** Pauses for a second in the middle: bytes that are held meanwhile show in the memory. */
class Sink extends Writable {
  bytes = 0;

  override _write(chunk: Buffer, _: string, done: () => void): void {
    const before = this.bytes;
    this.bytes += chunk.length;
    const isMiddle = before < streamBytes / 2 && this.bytes >= streamBytes / 2;
    if (isMiddle) setTimeout(done, 1_000);
    else done();
  }
}

describe('the gateway holds little memory for a stream of 500 MB', () => {
  let headers: Record<string, string>;
  let server: Server;
  let taken: Sink;

  beforeAll(async () => {
    server = createServer((req, res) => {
      if (req.method === 'GET') return void pipeline(source(streamBytes), res);
      taken = new Sink();
      void pipeline(req, taken).then(() => res.end('taken'));
    });
    headers = await proxyTo(await listen(server));
    for (let n = 0; n < 4; n += 1) await send(source(warmUpBytes));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  async function answerTo(body: Readable | null): Promise<IncomingMessage> {
    const method = body ? 'POST' : 'GET';
    const outgoing = request(`${product.baseUrl}/proxy`, { method, headers, agent: false });
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    if (body) await pipeline(body, outgoing);
    else outgoing.end();
    return (await answered)[0];
  }

  async function send(body: Readable): Promise<void> {
    const answer = await answerTo(body);
    expect([answer.statusCode, await answer.toArray()]).toEqual([200, [Buffer.from('taken')]]);
  }

  /** The largest growth of the gateway during the work. */
  async function growthDuring(what: Promise<unknown>): Promise<number> {
    const before = memory();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, memory())), 20);
    await what.finally(() => clearInterval(timer));
    return most - before;
  }

  function tell(way: string, growth: number): void {
    process.stdout.write(`500 MB ${way}: the gateway grew by ${(growth / 1e6).toFixed(1)} MB\n`);
  }

  it('to the destination', async () => {
    const growth = await growthDuring(send(source(streamBytes)));
    tell('to the destination', growth);
    expect(taken.bytes).toBe(streamBytes);
    expect(growth).toBeLessThan(growthMaxBytes);
  });

  it('to the caller', async () => {
    const sink = new Sink();
    const growth = await growthDuring(answerTo(null).then((answer) => pipeline(answer, sink)));
    tell('to the caller', growth);
    expect(sink.bytes).toBe(streamBytes);
    expect(growth).toBeLessThan(growthMaxBytes);
  });
});

describe('10,000 callers that leave', () => {
  type Stage = 'at once' | 'waiting' | 'within the body' | 'within the answer';
  const stages: readonly Stage[] = ['at once', 'waiting', 'within the body', 'within the answer'];
  let head: string;
  let server: RawServer;
  /** Callers whose request arrived, and those of them that are still connected. */
  const heard = new Set<number>();
  const connected = new Set<number>();
  const hearing = new Map<number, () => void>();
  const leftAt = new Map<number, number>();
  /** The longest time from the leaving of a caller until the destination noticed. */
  let slowestMs = 0;

  beforeAll(async () => {
    server = createRawServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes) => serve(socket, bytes.toString('latin1')));
    });
    const headers = Object.entries(await proxyTo(await listen(server)));
    head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  });
  afterAll(() => server.close());

  /** Answers callers that stay; others get a part or nothing. Watches each connection. */
  function serve(socket: Socket, text: string): void {
    const [, stage = '', caller] = /^\w+ \/([a-z]+)\/(\d+) /.exec(text) ?? [];
    if (caller === undefined) {
      return void socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
    }
    const id = Number(caller);
    const heardAt = performance.now();
    heard.add(id);
    connected.add(id);
    hearing.get(id)?.();
    socket.resume().once('close', () => {
      connected.delete(id);
      const since = Math.max(heardAt, leftAt.get(id) ?? 0);
      slowestMs = Math.max(slowestMs, leftAt.has(id) ? performance.now() - since : Infinity);
    });
    if (stage === 'answer') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
  }

  function requestOf(stage: Stage, id: number): string {
    const kind = stage.replace(/.* /, '');
    const start = `/proxy/${kind}/${id} HTTP/1.1\r\nHost: a\r\n${head}`;
    if (stage !== 'within the body') return `GET ${start}\r\n`;
    return `POST ${start}Content-Length: 9\r\n\r\nhalf`;
  }

  async function comeAndLeave(id: number): Promise<void> {
    const stage = stages[id % stages.length] ?? 'at once';
    const socket = connect(gatewayPort, '127.0.0.1').resume();
    const reached =
      stage === 'within the answer'
        ? once(socket, 'data')
        : new Promise<void>((resolve) => hearing.set(id, resolve));
    await new Promise((resolve) => socket.write(requestOf(stage, id), resolve));
    if (stage !== 'at once') await reached;
    leftAt.set(id, performance.now());
    socket.destroy();
  }

  const holds = (condition: boolean): Promise<boolean> => Promise.resolve(condition);

  async function normalCall(): Promise<string> {
    const socket = connect(gatewayPort, '127.0.0.1');
    socket.write(`GET /proxy HTTP/1.1\r\nHost: a\r\n${head}Connection: close\r\n\r\n`);
    const chunks = (await socket.toArray()) as Buffer[];
    return Buffer.concat(chunks).toString('latin1');
  }

  it('are each let go at the destination, and leave nothing behind', async () => {
    expect(await normalCall()).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nok$/);
    const before = descriptors();
    for (let first = 0; first < leaversTotal; first += wave) {
      await Promise.all(Array.from({ length: wave }, (_, n) => comeAndLeave(first + n)));
      await until(() => holds(connected.size === 0), 30_000);
    }
    await until(() => holds(descriptors() <= before + descriptorsSlack), 30_000);
    process.stdout.write(
      `${leftAt.size} left, ${heard.size} of them heard; the slowest let go after ` +
        `${slowestMs.toFixed(0)} ms; open files ${before} before, ${descriptors()} after\n`,
    );
    expect(heard.size).toBeGreaterThanOrEqual((leaversTotal * 3) / 4);
    expect(slowestMs).toBeLessThan(abortedWithinMs);
    expect(await normalCall()).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nok$/);
  }, 180_000);
});
