import {
  encodeData,
  encodeFrame,
  encodePieces,
  FrameDecoder,
  FrameError,
  headBytesMax,
  UnsendableFrame,
  valueBytesMax,
  type Frame,
} from './frames';

function decode(bytes: Buffer, chunkSize: number, valueMax?: number): Frame[] {
  const frames: Frame[] = [];
  const limits = valueMax === undefined ? [] : [() => valueMax];
  const decoder = new FrameDecoder((frame) => frames.push(frame), ...limits);
  for (let at = 0; at < bytes.length; at += chunkSize) {
    decoder.push(bytes.subarray(at, at + chunkSize));
  }
  return frames;
}

/** Spelled out byte by byte, so that a change of the format breaks it. */
const golden = Buffer.from('100000000509000000' + '7b22e282ac223a317d' + '6162', 'hex');

describe('the wire format', () => {
  it('is the one that is documented', () => {
    expect(encodeFrame('INVOKE', { '€': 1 }, 'ab')).toEqual(golden);
    expect(encodeData(7, Buffer.from('ab'))).toEqual(Buffer.from('070000000e070000006162', 'hex'));
  });

  it('is the same for values that are text, bytes, or a piece of their own', () => {
    expect(encodeFrame('INVOKE', { '€': 1 }, Buffer.from('ab'))).toEqual(golden);
    expect(encodePieces('INVOKE', { '€': 1 }, Buffer.from('ab'))).toEqual([golden]);
    const large = Buffer.alloc(100_000, 'x');
    const pieces = encodePieces('RESULT', { run: 1 }, large);
    expect(pieces[1]).toBe(large);
    expect(Buffer.concat(pieces)).toEqual(encodeFrame('RESULT', { run: 1 }, large));
  });

  it.each([1, 3, 7, 1000])('decodes to the same frames from chunks of %i bytes', (chunkSize) => {
    const head = { run: 1, order: { text: 'ü€𝄞'.repeat(50), list: [null, true, 1.5] } };
    const value = Buffer.from('ü€𝄞'.repeat(500));
    const bytes = Buffer.concat([
      encodeFrame('INVOKE', head, value),
      encodeFrame('PING', {}),
      encodeData(9, Buffer.from([0, 255, 1])),
      encodeData(9, Buffer.alloc(0)),
      encodeFrame('LOG', { level: 'info' }, ''),
    ]);
    const frames = decode(bytes, chunkSize);
    expect(frames.map((frame) => frame.type)).toEqual(['INVOKE', 'PING', 'DATA', 'DATA', 'LOG']);
    expect(frames[0]).toMatchObject({ head, value });
    expect(frames[1]).toMatchObject({ head: {}, value: Buffer.alloc(0) });
    expect(frames[2]).toMatchObject({ stream: 9, data: Buffer.from([0, 255, 1]) });
  });

  it('decodes a frame of many megabytes in linear time', () => {
    const value = Buffer.alloc(20 * 1024 * 1024, 'x');
    const startedAt = performance.now();
    const [frame] = decode(encodeFrame('RESULT', { run: 1 }, value), 4_096);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(frame?.type === 'RESULT' && frame.value.equals(value)).toBe(true);
  });
});

it('a frame of version 1 is refused: its text is no size of a head', () => {
  const hello = Buffer.from(
    '1e000000017b2276657273696f6e223a312c22736563726574223a2278227d',
    'hex',
  );
  expect(() => decode(hello, 1000)).toThrow(FrameError);
});

describe('the decoder of frames', () => {
  const raw = (length: number, type: number, head: number, payload = ''): Buffer => {
    const prefix = Buffer.alloc(9);
    prefix.writeUInt32LE(length);
    prefix[4] = type;
    prefix.writeUInt32LE(head, 5);
    return Buffer.concat([prefix, Buffer.from(payload)]);
  };
  const withHead = (head: string): Buffer => raw(5 + head.length, 5, head.length, head);

  it.each([
    ['a length of nothing', raw(0, 5, 0)],
    ['a length without room for the size of its head', raw(4, 5, 0)],
    ['a length above the limit', raw(5 + 2 + valueBytesMax + 1, 5, 2)],
    ['the largest length there is', raw(0xffffffff, 5, 2)],
    ['an unknown type', raw(7, 99, 2, '{}')],
    ['type 0', raw(7, 0, 2, '{}')],
    ['a head that is longer than its frame', raw(7, 5, 3, '{ }')],
    ['a head above the limit', raw(5 + headBytesMax + 1, 5, headBytesMax + 1)],
    ['the longest head there is', raw(7, 5, 0xffffffff, '{}')],
    ['a head of nothing', raw(7, 5, 0, '{}')],
    ['a head that is no JSON', withHead('{"a":')],
    ['a head that is JSON but no object', withHead('[1]')],
    ['a head of null', withHead('null')],
    ['a head with something behind it', withHead('{} {}')],
    ['DATA without a stream', raw(3, 14, 0)],
  ])('refuses %s', (_, bytes) => {
    for (const chunkSize of [1, 5, 1000]) {
      expect(() => decode(Buffer.concat([bytes, Buffer.alloc(8)]), chunkSize)).toThrow(FrameError);
    }
  });

  it('passes on a value that is no JSON, or nested without end: its reader is another', () => {
    const value = Buffer.alloc(100_000, '[');
    expect(decode(encodeFrame('RESULT', {}, value), 65_536)[0]).toMatchObject({ value });
  });

  it('refuses a value above the limit of its type by its prefix alone', () => {
    expect(decode(encodeFrame('LOG', { run: 1 }, 'x'.repeat(10)), 1000, 10)).toHaveLength(1);
    expect(() => decode(raw(5 + 2 + 11, 9, 2), 1000, 10)).toThrow(/LOG frame of 18 bytes/);
    expect(() => decode(raw(5 + 11, 14, 1), 1000, 10)).toThrow(/DATA frame of 16 bytes/);
  });

  it('keeps what came while it was paused, also when a frame itself resumes it', () => {
    const seen: string[] = [];
    const decoder = new FrameDecoder((frame) => {
      seen.push(frame.type);
      if (frame.type === 'LOG') decoder.pause();
      if (frame.type !== 'RESULT') return;
      decoder.pause();
      decoder.resume();
      seen.push('handled');
    });
    decoder.push(Buffer.concat([encodeFrame('LOG', {}), encodeFrame('RESULT', {})]));
    decoder.push(encodeFrame('PING', {}));
    expect(seen).toEqual(['LOG']);
    decoder.resume();
    expect(seen).toEqual(['LOG', 'RESULT', 'handled', 'PING']);
  });
});

describe('a frame that cannot be sent', () => {
  const circular: Record<string, unknown> = {};
  circular['a'] = circular;
  it.each([
    ['whose head holds a BigInt', { a: 1n }, '', 'not_serialisable'],
    ['whose head refers to itself', circular, '', 'not_serialisable'],
    ['whose head is too large', { a: 'x'.repeat(headBytesMax) }, '', 'too_large'],
    ['whose value is too large', {}, 'x'.repeat(valueBytesMax + 1), 'too_large'],
  ])('is one %s, and the error says why', (_, head, value, reason) => {
    expect(() => encodeFrame('RESULT', head, value)).toThrow(UnsendableFrame);
    expect(() => encodeFrame('RESULT', head, value)).toThrow(expect.objectContaining({ reason }));
  });
});
