import type { ParameterType, RequestParameter } from '@glovebox/definitions';
import type { Problem } from '@glovebox/problems';
import { fastest } from '@glovebox/testing';
import { castArguments } from './reactor-arguments';

const parameter = (name: string, type: ParameterType, optional = false): RequestParameter => ({
  name,
  type,
  optional,
});

function faultsOf(parameters: RequestParameter[], args: Record<string, unknown>): unknown {
  try {
    castArguments(parameters, args);
  } catch (error) {
    return (error as Problem).errors;
  }
  return undefined;
}

describe('arguments (docs/reference/invocation.md)', () => {
  it('A1: all are accepted where none is declared', () => {
    const args = { any: [1, { thing: null }] };
    expect(castArguments([], args)).toBe(args);
  });

  it('A2: match their names case-sensitively', () => {
    expect(faultsOf([parameter('Amount', 'number')], { amount: 1 })).toEqual({
      'args.Amount': ['is required'],
    });
  });

  it('A3: are found in nested properties by dots in the name', () => {
    const parameters = [parameter('user.first_name', 'string')];
    expect(castArguments(parameters, { user: { first_name: 'Ada', age: 36 } })).toEqual({
      user: { first_name: 'Ada' },
    });
    expect(faultsOf(parameters, { 'user.first_name': 'Ada' })).toBeDefined();
  });

  it('A4: must be present where they are required, and null counts as missing', () => {
    const parameters = [parameter('a', 'number'), parameter('b', 'string')];
    expect(faultsOf(parameters, { a: null })).toEqual({
      'args.a': ['is required'],
      'args.b': ['is required'],
    });
  });

  it('A5: may be left out where they are optional', () => {
    expect(castArguments([parameter('a', 'number', true)], {})).toEqual({});
  });

  it.each<[ParameterType, unknown, unknown]>([
    ['number', '123', 123],
    ['number', ' -1.5e3 ', -1500],
    ['number', 7, 7],
    ['number', '09', 9],
    ['number', '-007', -7],
    ['number', '.5', 0.5],
    ['number', '5.', 5],
    ['number', '+1', 1],
    ['number', '+.5E+1\n', 5],
    ['number', '9007199254740991', 9007199254740991],
    ['boolean', 'TRUE', true],
    ['boolean', 'False', false],
    ['string', 5, '5'],
    ['string', true, 'true'],
    ['object', { a: [1] }, { a: [1] }],
  ])('A6: are cast to the declared type: as %s, %j becomes %j', (type, given, taken) => {
    expect(castArguments([parameter('x', type)], { x: given })).toEqual({ x: taken });
  });

  it.each<[ParameterType, unknown]>([
    ['number', 'abc'],
    ['number', ''],
    ['number', '0x10'],
    ['number', '1e999'],
    ['number', '1e309'],
    ['number', ' '],
    ['number', '.'],
    ['number', '+'],
    ['number', '+-1'],
    ['number', '.e1'],
    ['number', '1e'],
    ['number', '1.2.3'],
    ['number', '1 2'],
    ['number', '1,5'],
    ['number', '1_000'],
    ['number', '0b1'],
    ['number', '1n'],
    ['number', 'Infinity'],
    ['number', '-Infinity'],
    ['number', 'NaN'],
    ['number', '٣'],
    ['number', true],
    ['boolean', 'yes'],
    ['boolean', 1],
    ['string', {}],
    ['string', ['a']],
    ['object', 'text'],
    ['object', []],
  ])('A6: are refused where they cannot be cast: as %s, %j', (type, given) => {
    expect(faultsOf([parameter('x', type)], { x: given })).toEqual({
      'args.x': [type === 'object' ? 'must be an object' : `must be a ${type}`],
    });
  });

  it('A6: are refused as a number in little time, however long their text is', async () => {
    const text = `${'1'.repeat(1024 * 1024)}x`;
    const castMs = (): number => {
      const before = performance.now();
      expect(faultsOf([parameter('x', 'number')], { x: text })).toBeDefined();
      return performance.now() - before;
    };
    expect(await fastest(1_000, castMs)).toBeLessThan(1_000);
  });

  it('A8: are removed where others are declared and they are not', () => {
    expect(castArguments([parameter('a', 'number')], { a: 1, b: { deep: 2 } })).toEqual({ a: 1 });
  });

  it('keep everything below a declared object, with its declared parts cast', () => {
    const args = { user: { age: '36', name: 'Ada' } };
    const parameters = [parameter('user.age', 'number'), parameter('user', 'object')];
    expect(castArguments(parameters, args)).toEqual({ user: { age: 36, name: 'Ada' } });
    expect(args.user.age).toBe('36');
  });

  it('keep a member called __proto__ as a member', () => {
    const args = JSON.parse('{"x":{"__proto__":{"polluted":true}}}') as Record<string, unknown>;
    const cast = castArguments([parameter('x', 'object')], args);
    expect(JSON.stringify(cast)).toBe('{"x":{"__proto__":{"polluted":true}}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
