import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { documentedLimits } from '@glovebox/testing';
import { crossedElsewhere, unreachable } from './limits-not-walked';
import { runningProduct } from '../product';
import { answersIn } from '../raw-socket';
import {
  bodies,
  outcomeOf,
  prepare,
  walks,
  type BodyWalk,
  type WalkSetting,
} from './walked-limits';

const limits = documentedLimits().filter(({ section }) => section !== 'Inside');
const product = runningProduct();
let walked: WalkSetting;

beforeAll(async () => {
  walked = await prepare(product);
});
afterAll(() => walked.receiver.close());

it('every limit outside of "Inside" is walked, or another spec is named, or the reason why none can', () => {
  const known = [
    ...[...Object.keys(walks), ...Object.keys(bodies)],
    ...[...crossedElsewhere, ...unreachable].flatMap((group) => group.limits),
  ];
  const documented = new Set(limits.map(({ key }) => key));
  expect([...documented].filter((key) => !known.includes(key))).toEqual([]);
  expect(known.filter((key, at) => !documented.has(key) || known.indexOf(key) !== at)).toEqual([]);
});

it('every spec that is named for a limit has the test of this title', () => {
  const missing = crossedElsewhere.filter(
    ({ spec, title }) => !readFileSync(join(__dirname, '../..', spec), 'utf8').includes(title),
  );
  expect(missing).toEqual([]);
});

function valueOf(key: string): number {
  const value = limits.find((limit) => limit.key === key)?.value;
  if (value === undefined) throw new Error(`docs/reference/limits.md has no ${key}`);
  return value;
}

describe.each(Object.entries(walks))('the limit %s', (key, { within, beyond, isLeast, send }) => {
  it('is taken, and its next neighbour is refused', async () => {
    const limit = valueOf(key);
    const sizes = [limit - 1, limit, limit + 1];
    const outcomes = await Promise.all(sizes.map((size) => send(walked, size)));
    expect(outcomes).toEqual(isLeast ? [beyond, within, within] : [within, within, beyond]);
  });
});

/** Bytes that Node reads at once. */
const oneRead = 64 * 1024;
type Framing = 'whole' | 'chunked' | 'slow';

describe.each(Object.entries(bodies))('a body at the limit %s', (key, walk) => {
  const framings = walk.framing ? [walk.framing] : (['whole', 'chunked', 'slow'] as const);

  it.each<Framing>([...framings])('gets the same answer when it is sent %s', async (framing) => {
    const limit = valueOf(key);
    const outcomes = [];
    for (const size of [limit - 1, limit, limit + 1, limit + oneRead])
      outcomes.push(await sent(walk, framing, size));
    const { within, beyond } = walk;
    expect(outcomes).toEqual([within, within, beyond, beyond]);
  });
});

async function sent({ head, json }: BodyWalk, framing: Framing, size: number): Promise<string> {
  const { hostname, port } = new URL(product.baseUrl);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  const said = answerOn(socket);
  const [line = '', more] = head(walked).split('\n');
  const [method, path, key] = line.split(' ');
  const headers = `Host: a\r\nConnection: close\r\nContent-Type: application/json\r\nSVC-API-KEY: ${key}\r\n`;
  const begin = `${method} ${path} HTTP/1.1\r\n${headers}${more === undefined ? '' : `${more}\r\n`}`;
  const body = json.padEnd(size, ' ');
  const length = `Content-Length: ${size}\r\n\r\n`;
  if (framing === 'whole') socket.write(`${begin}${length}${body}`);
  else if (framing === 'chunked') {
    const chunk = `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    socket.write(`${begin}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
  } else {
    // The last read brings one byte, and the limit may be crossed by the one before.
    for (const part of [begin + length, body.slice(0, -oneRead), body.slice(-oneRead, -1)]) {
      await new Promise((resolve) => void socket.write(part, resolve));
      await new Promise(setImmediate);
    }
    socket.write(body.slice(-1));
  }
  const [answer] = answersIn(await said);
  return outcomeOf(answer?.status ?? 0, answer?.body ?? '');
}

function answerOn(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  return new Promise((resolve, reject) => {
    socket.on('end', () => resolve(text)).on('error', reject);
  });
}
