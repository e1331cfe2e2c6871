import { atOnce } from '@glovebox/expressions';
import { readExactJson, writeExactJson } from './exact-json';

const read = (text: string): unknown => atOnce(readExactJson(Buffer.from(text)));
const write = (value: unknown): string => atOnce(writeExactJson(value));
const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

describe('exact JSON', () => {
  it.each([
    '{"id":12345678901234567890,"other":9007199254740993}',
    '[0.12345678901234567890,1e400,-1e-400,123456789012345678901234567890.5]',
    '[10.00,1.50,-0,0.0,1E5,1e+2,0.0000001,100000000000000000000000]',
    '[1,-1,0,15.25,1e+21,9007199254740991,true,false,null,"12345678901234567890"]',
    '12345678901234567890',
    '{"__proto__":1.0,"constructor":{"prototype":2.0},"toJSON":3.0,"":4.0}',
    `{"a":${'9'.repeat(400)}}`,
  ])('writes %s as it was read', (text) => {
    expect(write(read(text))).toBe(text);
  });

  it('writes strings and blanks like JSON.stringify, and keeps halves of surrogate pairs', () => {
    expect(write(read(' { "a\\u0062" : "\\u00e9\\/\\ud800" } '))).toBe('{"ab":"é/\\ud800"}');
  });

  it.each([
    ['two members of one name', '{"a":1,"\\u0061":2}'],
    ['65 levels', '['.repeat(65) + ']'.repeat(65)],
    ['100,001 values', `[${'1.0,'.repeat(99_999)}1.0]`],
    ['a number in the place of a name', '{1.0:1}'],
    ['a number behind a comma in the place of a name', '{"a":1,1.0:1}'],
    ['a number with a leading zero', '[01.0]'],
    ['a negative number with a leading zero', '[-012345678901234567890]'],
    ['a number without digits behind its dot', '[1.]'],
    ['a number without an exponent', '[1.0e]'],
    ['a sign without a number', '[-]'],
    ['a plus', '[+1.0]'],
    ['a number of 401 characters', `[${'1'.repeat(401)}]`],
    ['a number of a million characters', '1'.repeat(1_000_000)],
    ['two numbers side by side', '[1.0 1.0]'],
    ['a number beside a string', '["a"1.0]'],
    ['nothing', ''],
    ['half a document', '{"a":1.0'],
  ])('refuses %s', (_, text) => {
    expect(codeOf(() => read(text))).toBe('invalid_json');
  });

  it('refuses bytes that are not UTF-8, and accepts a byte order mark', () => {
    expect(codeOf(() => atOnce(readExactJson(Buffer.from([0x22, 0xff, 0x22]))))).toBe(
      'invalid_json',
    );
    expect(read('\ufeff[1.0]')).toHaveLength(1);
    expect(atOnce(readExactJson('\ufeff[1]'))).toEqual([1]);
  });

  it('accepts 100,000 numbers that no double holds, and objects with as many members', () => {
    const numbers = `[${Array(99_999).fill('12345678901234567890').join(',')}]`;
    expect(write(read(numbers))).toBe(numbers);
    const members = `{${Array.from({ length: 99_999 }, (_, at) => `"n${at}":1.0`).join(',')}}`;
    expect(write(read(members))).toBe(members);
  });

  it('shows a number to others or refuses, and shows no members', () => {
    const [number] = read('[12345678901234567890]') as [object];
    expect(codeOf(() => JSON.stringify({ number }))).toBe('invalid_json');
    expect(JSON.stringify(read('[10.50]'))).toBe('[10.5]');
    expect(Object.keys(number)).toEqual([]);
  });

  it('writes nothing where a step has removed the whole document', () => {
    expect(write(undefined)).toBe('');
  });

  it('writes the same whether a document is small or large', () => {
    const part = '{"a":10.00,"__proto__":[1.50,[],{}],"b":"10.00","c":{"d":null}}';
    const large = `[${Array(1_000).fill(part).join(',')}]`;
    expect(write(read(part))).toBe(part);
    expect(write(read(large))).toBe(large);
  });

  it('reads and writes 10 MiB', () => {
    const text = `["${'a'.repeat(10 * 1024 * 1024 - 100)}",1.0]`;
    expect(write(read(text)) === text).toBe(true);
  });
});
