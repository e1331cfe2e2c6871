import { UnsendableFrame } from './frames';
import { readValue, UnreadableValue, valueDepthMax, writeValue } from './values';

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const read = (text: string, membersMax?: number): unknown =>
  readValue(Buffer.from(text), membersMax);
const because = (reason: string): Error => expect.objectContaining({ reason }) as Error;

describe('a value', () => {
  it.each([
    [{ a: ['ü€𝄞', null, true, -1.5, { '"\\': '\\"[{,' }] }],
    ['\\'.repeat(101)],
    [''],
    [0],
    [null],
    [undefined],
  ])('is read as it was written: %j', (value) => {
    expect(readValue(Buffer.from(writeValue(value)))).toEqual(value);
  });

  it.each(['{"a":', '[1,]', 'x', '{"a":1}}', '"', '"\\'])('is unreadable when it is %s', (text) => {
    expect(() => read(text)).toThrow(UnreadableValue);
    expect(() => read(text)).toThrow(because('not_json'));
  });

  it('is refused before it is parsed when it is nested too deeply', () => {
    expect(() => read(nested(valueDepthMax))).not.toThrow();
    expect(() => read(nested(valueDepthMax + 1))).toThrow(because('too_deep'));
    expect(() => read('['.repeat(1_000_000))).toThrow(because('too_deep'));
    expect(read(JSON.stringify({ text: '\\"[{'.repeat(500) }))).toBeDefined();
  });

  it('is refused before it is parsed when it has too many members', () => {
    const list = (length: number): string => JSON.stringify(Array(length).fill(','));
    expect(read(list(100), 100)).toHaveLength(100);
    expect(() => read(list(101), 100)).toThrow(because('too_many'));
    expect(() => read('{},'.repeat(101), 100)).toThrow(because('too_many'));
    expect(read(`["${',[{'.repeat(1_000)}"]`, 1)).toHaveLength(1);
  });

  it('is measured in linear time, whatever is escaped in it', () => {
    const startedAt = performance.now();
    const text = JSON.stringify('\\"'.repeat(2_000_000));
    expect(read(text)).toHaveLength(4_000_000);
    expect(() => read(`"${'\\'.repeat(4_000_000)}`)).toThrow(because('not_json'));
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  const circular: Record<string, unknown> = {};
  circular['a'] = circular;
  it.each([
    ['holds a BigInt', { a: 1n }],
    ['refers to itself', circular],
    ['is nested too deeply', JSON.parse(nested(valueDepthMax + 1))],
    ['is nested beyond any stack', JSON.parse(nested(50_000))],
  ])('cannot be sent when it %s', (_, value) => {
    expect(() => writeValue(value)).toThrow(UnsendableFrame);
    expect(() => writeValue(value)).toThrow(because('not_serialisable'));
  });
});
