import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { randomFrom, testSeed, type Random } from '@glovebox/testing';
import type { ClientRequest } from '../client-request';
import { Recorder } from '../spec-recorder';
import { SpecConnectionOwner, requestOf } from '../spec-server';

const seed = testSeed();

it(`300 conversations with a server of Node lose and mix up no byte (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const server = createServer((req, res) => void echo(random, req, res));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  let owned: SpecConnectionOwner | undefined;
  let reused = 0;
  for (let n = 0; n < 300; n += 1) {
    if (owned === undefined) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      owned = new SpecConnectionOwner(socket);
    } else reused += 1;
    const { connection } = owned;
    const bytes = bytesOf(random);
    const recorder = new Recorder({
      data: (_, isLast) => {
        if (isLast || random(3) > 0) return true;
        setImmediate(() => connection.resume());
        return false;
      },
    });
    const request = { method: 'PUT', target: `/${n}`, body: bodyOf(random, bytes) };
    connection.send(requestOf(request), recorder);
    await recorder.over;
    expect(recorder.error).toBeUndefined();
    expect(recorder.headers).toContain(`${n}:${digest(bytes)}`);
    expect(digest(Buffer.concat(recorder.parts))).toBe(digest(bytes));
    expect(recorder.lasts.slice(0, -1)).not.toContain(true);
    if (owned.events.at(-1) === 'closed') owned = undefined;
  }
  owned?.connection.close();
  server.close();
  await once(server, 'close');
  expect(reused).toBeGreaterThan(200);
});

/** Answers with the same bytes, framed in a random way. */
async function echo(random: Random, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  res.setHeader('X-Seen', `${req.url?.slice(1) ?? ''}:${digest(bytes)}`);
  if (random(12) === 0) res.shouldKeepAlive = false;
  if (random(3) === 0) return void res.end(bytes);
  if (random(3) === 0) res.setHeader('Content-Length', bytes.length);
  if (random(3) === 0) res.writeProcessing();
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random(random(2) === 0 ? 1_000 : 200_000);
    res.write(bytes.subarray(at, end));
    at = end;
  }
  res.end();
}

function bytesOf(random: Random): Buffer {
  const bytes = Buffer.alloc(random(random(3) === 0 ? 120_000 : 5_000));
  for (let at = 0; at < bytes.length; at += 4) bytes[at] = random(256);
  return bytes;
}

function bodyOf(random: Random, bytes: Buffer): ClientRequest['body'] {
  if (random(2) === 0) return bytes;
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random(50_000);
    parts.push(bytes.subarray(at, end));
    at = end;
  }
  return { stream: Readable.from(parts), length: random(2) === 0 ? bytes.length : undefined };
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
