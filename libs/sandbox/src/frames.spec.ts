import {
  encodeData,
  encodeFrame,
  FrameDecoder,
  FrameError,
  frameBytesMax,
  frameDepthMax,
  UnsendableFrame,
  type Frame,
} from './frames';

function decode(bytes: Buffer, chunkSize: number, bytesMaxOf?: () => number): Frame[] {
  const frames: Frame[] = [];
  const decoder = new FrameDecoder((frame) => frames.push(frame), bytesMaxOf);
  for (let at = 0; at < bytes.length; at += chunkSize) {
    decoder.push(bytes.subarray(at, at + chunkSize));
  }
  return frames;
}

/** Spelled out byte by byte, so that a change of the format breaks it. */
const golden = Buffer.from('0a000000057b22e282ac223a317d', 'hex');

describe('the wire format', () => {
  it('is the one that is documented', () => {
    expect(encodeFrame('INVOKE', { '€': 1 })).toEqual(golden);
    expect(encodeData(7, Buffer.from('ab'))).toEqual(Buffer.from('070000000e070000006162', 'hex'));
  });

  it.each([1, 3, 7, 1000])('decodes to the same frames from chunks of %i bytes', (chunkSize) => {
    const body = { run: 1, args: { text: 'ü€𝄞'.repeat(50), list: [null, true, 1.5] } };
    const bytes = Buffer.concat([
      encodeFrame('INVOKE', body),
      encodeFrame('PING', {}),
      encodeData(9, Buffer.from([0, 255, 1])),
      encodeFrame('LOG', { text: '' }),
    ]);
    const frames = decode(bytes, chunkSize);
    expect(frames.map((frame) => frame.type)).toEqual(['INVOKE', 'PING', 'DATA', 'LOG']);
    expect(frames[0]).toMatchObject({ body });
    expect(frames[2]).toMatchObject({ stream: 9, data: Buffer.from([0, 255, 1]) });
  });

  it('decodes a frame of many megabytes in linear time', () => {
    const text = 'x'.repeat(20 * 1024 * 1024);
    const startedAt = performance.now();
    const [frame] = decode(encodeFrame('RESULT', { text }), 4_096);
    expect(frame).toMatchObject({ type: 'RESULT', body: { text } });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe('the decoder of frames', () => {
  const raw = (length: number, ...payload: number[]): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(length);
    return Buffer.concat([head, Buffer.from(payload)]);
  };
  const json = (text: string): Buffer =>
    Buffer.concat([raw(text.length + 1, 5), Buffer.from(text)]);

  it.each([
    ['a length of nothing', raw(0, 5)],
    ['a length above the limit', raw(frameBytesMax + 1, 5)],
    ['the largest length there is', raw(0xffffffff, 5)],
    ['an unknown type', raw(3, 99, 0x7b, 0x7d)],
    ['type 0', raw(3, 0, 0x7b, 0x7d)],
    ['no JSON', json('{"a":')],
    ['a payload of nothing', raw(1, 5)],
    ['JSON that is no object', json('[1]')],
    ['null', json('null')],
    ['DATA without a stream', raw(3, 14, 1, 2)],
  ])('refuses %s', (_, bytes) => {
    expect(() => decode(Buffer.concat([bytes, Buffer.alloc(8)]), 1000)).toThrow(FrameError);
  });

  it('is protected by the encoder, which refuses a frame that is too large', () => {
    expect(() => encodeFrame('LOG', { text: 'x'.repeat(frameBytesMax) })).toThrow(FrameError);
  });

  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

  it('refuses a frame that is nested too deeply before it parses it', () => {
    expect(decode(json(nested(frameDepthMax)), 1000)).toHaveLength(1);
    expect(() => decode(json(nested(frameDepthMax + 1)), 1000)).toThrow(/nested too deeply/);
    expect(() => decode(json('['.repeat(1_000_000)), 65_536)).toThrow(/nested too deeply/);
    expect(decode(json(JSON.stringify({ text: '\\"[{'.repeat(500) })), 1000)).toHaveLength(1);
  });

  it('refuses a frame above the limit of its type by its header alone', () => {
    expect(() => decode(raw(11, 9), 1000, () => 10)).toThrow(/LOG frame of 11 bytes/);
  });

  const circular: Record<string, unknown> = {};
  circular['a'] = circular;
  it.each([
    ['a BigInt', { a: 1n }, 'not_serialisable'],
    ['an object that refers to itself', circular, 'not_serialisable'],
    [
      'an object that is nested too deeply',
      JSON.parse(nested(frameDepthMax + 1)),
      'not_serialisable',
    ],
    ['an object that is nested beyond any stack', JSON.parse(nested(50_000)), 'not_serialisable'],
    ['an object that is too large', { a: 'x'.repeat(frameBytesMax) }, 'too_large'],
  ])('%s cannot be sent, and the error says why', (_, body, reason) => {
    expect(() => encodeFrame('RESULT', body)).toThrow(UnsendableFrame);
    expect(() => encodeFrame('RESULT', body)).toThrow(expect.objectContaining({ reason }));
  });
});
