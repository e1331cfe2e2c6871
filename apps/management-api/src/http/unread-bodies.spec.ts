import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { useTestApi } from '../spec-api';

const api = useTestApi();

const bytes = 20_000_000;
const piece = Buffer.alloc(1_000_000, 'x');

/** A caller that says all it has to say before it listens; the answer, or that there is none. */
async function statusForWhoWritesFirst(
  head: string,
  framing: 'length' | 'chunks',
): Promise<string> {
  const socket = connect(api.port, '127.0.0.1').pause();
  let fault = '';
  socket.on('error', (error) => (fault = error.message));
  const say = async (part: Buffer | string): Promise<void> => {
    if (fault === '' && !socket.write(part))
      await Promise.race([once(socket, 'drain'), delay(5_000, undefined, { ref: false })]);
  };
  const length = framing === 'length' ? `Content-Length: ${bytes}` : 'Transfer-Encoding: chunked';
  await say(`${head}\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`);
  for (let sent = 0; sent < bytes; sent += piece.length) {
    if (framing === 'chunks') await say(`${piece.length.toString(16)}\r\n`);
    await say(piece);
    if (framing === 'chunks') await say('\r\n');
  }
  if (framing === 'chunks') await say('0\r\n\r\n');
  const [answer] = (await Promise.race([
    once(socket.resume(), 'data'),
    delay(5_000, ['nothing'], { ref: false }),
  ])) as [unknown];
  socket.destroy();
  return fault === '' ? String(answer).slice(9, 12) : fault;
}

describe.each(['length', 'chunks'] as const)('a body of 20 MB, framed by %s,', (framing) => {
  it.each([
    ['without a key', '/applications', '', 401],
    ['of a caller without the permission', '/applications', 'private', 403],
    ['to a path that nobody serves', '/nothing', 'management', 404],
    ['to a resource that is not there', '/proxies/x', 'management', 404],
    ['of a caller that may', '/applications', 'management', 413],
    ['to an operation that takes larger ones', '/tokenize', 'private', 413],
  ])('gets its answer %s, every time', async (_, path, key, status) => {
    const keys: Record<string, string> = {
      private: api.tenant.private_key,
      management: api.tenant.management_key,
    };
    const method = path === '/proxies/x' ? 'PUT' : 'POST';
    const head = `${method} ${path} HTTP/1.1\r\nSVC-API-KEY: ${keys[key] ?? 'none'}`;
    for (let tries = 0; tries < 2; tries += 1) {
      expect(await statusForWhoWritesFirst(head, framing)).toBe(String(status));
    }
  });
});

describe('a body is refused before the rest of it has arrived, for too many', () => {
  it.each([
    ['values', '/tokenize', `[${'1,'.repeat(100_000)}`, 'more than 100000 values'],
    ['levels', '/tokens', `{"data":${'['.repeat(64)}`, 'deeper than 64 levels'],
    ['members', '/tokens', `{"metadata":{${'"m":1,'.repeat(10_001)}`, 'more than 10000 members'],
  ])('%s', async (_, path, begun, detail) => {
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${api.tenant.private_key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n${begun}`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('HTTP/1.1 400');
    expect(answer.toString()).toContain(detail);
    expect(api.ctx.bodies.bufferedBytes.state.held).toBe(0);
    socket.destroy();
  });
});
