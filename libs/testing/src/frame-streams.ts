import type { Random } from './random';

/**
 * Streams of frames as libs/sandbox/src/frames.ts describes them, most of them broken somewhere. They
 * are written out here once more, so that a fault of our encoder shows.
 */
export function brokenFrames(random: Random): Buffer {
  let bytes: Buffer = Buffer.concat(Array.from({ length: 1 + random(4) }, () => frame(random)));
  for (let n = random(4); n > 0; n -= 1) bytes = mutated(random, bytes);
  return bytes;
}

/** The same bytes as they may arrive. */
export function chunksOf(random: Random, bytes: Buffer): Buffer[] {
  const sizeMax = one(random, [1, 4, 12, 64, 1024]);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random(sizeMax);
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}

function one<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

const dataType = 14;
const heads = [
  '{}',
  '{"id":1}',
  '{"run":1}',
  '{"run":1,"kind":"returned"}',
  '{"run":1,"kind":"threw","last":true}',
  '{"run":1,"kind":"invalid_result","reason":"too_large"}',
  '{"ok":true}',
  '{"id":1,"ok":true}',
  '{"id":1,"run":1,"method":"svc.tokenize"}',
  '{"id":2,"run":0,"method":"egress.open","params":{"host":"a.example","port":443}}',
  '{"id":3,"run":0,"method":"egress.lookup","params":{"host":"ü.example"}}',
  '{"run":1,"level":"info","at":1700000000000}',
  '{"stream":1,"event":"credit","bytes":1}',
  '{"stream":1,"event":"close","code":"ECONNRESET"}',
  '{"version":2,"secret":"x"}',
  '{"run":1,"order":{"kind":"reactor","tenantId":"t","resourceId":"r","runtime":"node20","applicationId":null,"codeHash":"h","isolation":"warm","svc":true,"urgency":"sync","timeoutMs":100,"resultBytesMax":1000}}',
];
const oddHeads = ['', ' {}', '{}{}', '[]', 'null', '{"run":', '{"run":1e999}', '"', '{"\ud800":1}'];
const values = [
  '',
  '',
  '{}',
  '[1]',
  '"x"',
  '{"args":{},"configuration":{}}',
  '[[[[',
  'x'.repeat(70),
];

function frame(random: Random): Buffer {
  const type = random(16) === 0 ? random(256) : 1 + random(dataType);
  if (type === dataType) return prefixed(type, random(4), Buffer.alloc(random(80), 1));
  const head = Buffer.from(one(random, random(12) === 0 ? oddHeads : heads));
  return prefixed(type, head.length, Buffer.concat([head, Buffer.from(one(random, values))]));
}

function prefixed(type: number, second: number, rest: Buffer): Buffer {
  const prefix = Buffer.alloc(9);
  prefix.writeUInt32LE(5 + rest.length, 0);
  prefix.writeUInt8(type, 4);
  prefix.writeUInt32LE(second, 5);
  return Buffer.concat([prefix, rest]);
}

const numbers = [0, 1, 4, 5, 6, 9, 64, 255, 65_536, 0x7fffffff, 0x80000000, 0xffffffff];

function mutated(random: Random, bytes: Buffer): Buffer {
  if (bytes.length < 10) return bytes;
  const at = random(bytes.length);
  const end = at + 1 + random(random(2) === 0 ? 4 : 60);
  const copy = Buffer.from(bytes);
  switch (random(6)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
      return copy;
    case 1:
      return copy.subarray(0, at);
    case 2:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(end)]);
    case 3: {
      const from = random(bytes.length);
      return Buffer.concat([
        copy.subarray(0, at),
        bytes.subarray(from, from + end - at),
        copy.subarray(at),
      ]);
    }
    case 4:
      // The length of the first frame, or the size of its head.
      copy.writeUInt32LE(near(random, copy), one(random, [0, 5]));
      return copy;
    default:
      copy.writeUInt8(random(20), 4);
      return copy;
  }
}

function near(random: Random, bytes: Buffer): number {
  if (random(2) === 0) return one(random, numbers);
  return Math.max(0, bytes.readUInt32LE(one(random, [0, 5])) + random(9) - 4) % 2 ** 32;
}
