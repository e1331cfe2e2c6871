import { Problem } from '@glovebox/problems';
import { appendedTemplate, Budget, dataTemplate } from '../index';
import { filters } from './filters';

function observed(filters: string, value: unknown): unknown[] {
  const seen: unknown[] = [];
  const budget = new Budget({}, { onFiltered: (source, before) => seen.push([source, before]) });
  dataTemplate(`{{ data ${filters} }}`).render(value, budget);
  return seen;
}

const filtered = (filters: string, value: unknown): unknown =>
  dataTemplate(`{{ data | ${filters} }}`).render(value);

function refusal(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('Nothing was refused');
}

const card = { number: '4242424242424242', expiration_month: 3, expiration_year: 2031 };
const book = { 'a b': [{ n: 1 }, { n: 2 }], deep: { only: { x: null } }, __proto__: { n: 9 } };
const emoji = '😀é漢😎z';

const cases: readonly (readonly [filters: string, value: unknown, result: unknown])[] = [
  ["json: '$'", book, book],
  ["json: '$.deep'", book, { only: { x: null } }],
  [`json: "$['a b'][1].n"`, book, 2],
  [`json: '$["a b"][-1].n'`, book, 2],
  ["json: '$..only.x'", book, null],
  ["json: '$.deep.*.x'", book, null],
  ["json: '$.deep[*]..x'", book, null],
  [String.raw`json: '$[\'a b\'][0].n'`, book, 1],
  ['last4', '4242424242421111', '1111'],
  ['last4', 123456, '3456'],
  ['last4', '12', '12'],
  ['last4', emoji, 'é漢😎z'],
  ['reveal_last: 4', '123456789', '*****6789'],
  ['reveal_last:2,"#"', '12345', '###45'],
  ["reveal_last: 2, '😀'", emoji, '😀😀😀😎z'],
  ['reveal_last: 0', 'abc', '***'],
  ['reveal_last: 9', 'abc', 'abc'],
  ['reveal: 6, 4', card.number, '424242******4242'],
  ["reveal: 1, 1, 'x'", emoji, '😀xxxz'],
  ['reveal: 2', 'abcd', 'ab**'],
  ['reveal: 3, 3', 'abcd', 'abcd'],
  ["pad_left: 5, '0'", 42, '00042'],
  ['pad_left: 3', 'abcd', 'abcd'],
  ["pad_left: 7, '😀'", emoji, `😀😀${emoji}`],
  ["pad_right: 4, '.'", 'ab', 'ab..'],
  ['pad_right: 4', 'ab', 'ab  '],
  ['stringify', { a: ['"'] }, '{"a":["\\""]}'],
  ['stringify', 'text', '"text"'],
  ['stringify', null, 'null'],
  ['to_string', 'text', 'text'],
  ['to_string', 4.5, '4.5'],
  ['to_string', [1, null], '[1,null]'],
  ['to_number', ' -12.50e1 ', -125],
  ['to_number', 7, 7],
  ['to_boolean', ' TRUE', true],
  ['to_boolean', false, false],
  ["card_exp: 'MM/YY'", card, '03/31'],
  ["card_exp: 'YYYY-M'", card, '2031-3'],
  ['card_exp', card, '03/31'],
  ["card_exp: 'M/YY'", { expiration_month: '03', expiration_year: '2031' }, '3/31'],
  ["card_exp: 'MM/YYYY'", { expiration_month: '3', expiration_year: '2031' }, '03/2031'],
  ['card_bin', card, '424242'],
  ['card_bin: 8', '4242 4242-42424242', '42424242'],
  ['upcase', 'straße', 'STRASSE'],
  ['downcase', 'ÄB', 'äb'],
  ['slice: 1, 2', emoji, 'é漢'],
  ['slice: -2, 1', emoji, '😎'],
  ['slice: 3', emoji, '😎z'],
  ['slice: 99, 2', 'abc', ''],
  ['slice: -99, 2', 'abc', 'ab'],
  ["replace: '-', ' '", '1-2-3', '1 2 3'],
  ["replace: '.', '$&'", 'a.b', 'a$&b'],
  ["remove: '-'", '123-45-6789', '123456789'],
  ["append: '!'", true, 'true!'],
  [`prepend: '+"'`, 1, '+"1'],
  [
    "hmac: 'sha256', 'key'",
    'The quick brown fox jumps over the lazy dog',
    'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
  ],
  ['to_base64', 'é漢', 'w6nmvKI='],
  ['to_base16', 'é', 'c3a9'],
  ["remove: '-' | reveal_last: 4 | append: '.'", '12-34-56', '**3456.'],
];

/** Of the text above, under the key `key`. */
const signing: [filters: string, value: unknown, result: string][] = [
  [
    "hmac_body: 'sha256'",
    'key',
    'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
  ],
  ["hmac_body: 'SHA1', 'base64'", 'key', '3nybhbi3iqa8ino29wqQcBydtNk='],
];

describe('a filter of the body that leaves', () => {
  const render = (filters: string, value: unknown, body?: Buffer): unknown =>
    appendedTemplate('query', `v={{ key_1 | ${filters} }}`)?.render(
      new Map([['key_1', value]]),
      new Budget({}, undefined, body),
    );

  it.each(signing)('%s under the key %j is %j', (filters, value, result) => {
    const body = Buffer.from('The quick brown fox jumps over the lazy dog');
    expect(render(filters, value, body)).toBe(`v=${result}`);
  });

  it.each([
    ["hmac_body: 'md5'", 'key'],
    ["hmac_body: 'sha256', 'base16'", 'key'],
    ['hmac_body', 'key'],
    ["hmac_body: 'sha256'", ''],
    ["hmac_body: 'sha256'", { a: 1 }],
  ])('%s under the key %j is refused', (filters, value) => {
    const refused = expect.objectContaining({ code: 'invalid_expression' }) as Error;
    expect(() => render(filters, value, Buffer.from('a'))).toThrow(refused);
  });

  it('counts the body against what the filters of a request may read', () => {
    const body = Buffer.alloc(20 * 1024 * 1024);
    const twice = "hmac_body: 'sha1' | hmac_body: 'sha1'";
    expect(() => render(twice, 'key', body)).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }) as Error,
    );
  });
});

describe('a filter', () => {
  it.each(cases)('%s makes of %j the value %j', (filters, value, result) => {
    expect(filtered(filters, value)).toEqual(result);
  });

  it('has at least one example in this spec', () => {
    const tested = [...cases, ...signing].map(([filters]) => /^\w+/.exec(filters)?.[0]);
    expect([...filters.keys()].filter((name) => !tested.includes(name))).toEqual([]);
  });

  it.each([
    ['last4', { secret: '4242' }],
    ['upcase', null],
    ['to_number', '0x10'],
    ['to_number', '1e999'],
    ['to_number', ''],
    ['to_boolean', 'yes'],
    ['card_exp', { expiration_month: 13, expiration_year: 2031 }],
    ['card_exp', { expiration_month: '00', expiration_year: '2031' }],
    ['card_exp', { expiration_month: '3', expiration_year: '31' }],
    ['card_exp', 'secret'],
    ['card_bin', '4242'],
    ['card_bin', { number: { a: 1 } }],
    ['card_bin', `4242${' '.repeat(30)}42424242`],
  ])(
    '%s does not take %j, and is refused by name and place without the value',
    (filters, value) => {
      const problem = refusal(() => filtered(filters, value));
      const name = /^\w+/.exec(filters)?.[0] ?? '';
      expect(problem.code).toBe('invalid_expression');
      expect(problem.detail).toBe(
        `The expression at character 0 has a value that the filter ${name} cannot take.`,
      );
    },
  );

  it.each<[string, unknown, string]>([
    ["json: '$.secret.none'", { secret: 1 }, 'nothing'],
    ["json: '$.*'", { secret: 1, other: 2 }, 'several values'],
    ["json: '$..n'", book, 'several values'],
    ["json: '$.__proto__'", {}, 'nothing'],
    ["json: '$.length'", [1], 'nothing'],
    ["json: '$[1]'", [1], 'nothing'],
  ])('%s of %j is refused, because its path matches no one value', (filters, value, matched) => {
    expect(refusal(() => filtered(filters, value)).detail).toBe(
      `In the expression at character 0, the path of \`json\` matches ${matched}.`,
    );
  });

  it.each([
    ['lastfour', '`lastfour` is no filter. Did you mean last4?'],
    ["jsn: '$.a'", '`jsn` is no filter. Did you mean json?'],
    ['constructor', '`constructor` is no filter.'],
    [`x${'y'.repeat(40)}`, 'a filter is unknown.'],
    ['n4242424242424242', 'a filter is unknown.'],
  ])('%s is refused with the filter that was meant', (filters, why) => {
    expect(refusal(() => filtered(filters, 'x')).detail).toBe(
      `In the expression at character 0, ${why}`,
    );
  });

  it.each([
    'json',
    "json: 'number'",
    "json: '$.'",
    "json: '$[x]'",
    "json: '$[?(@.a)]'",
    "json: '$[0'",
    "json: '$..a..b'",
    `json: '$${'.a'.repeat(65)}'`,
    'last4: 1',
    'reveal_last',
    'reveal_last: -1',
    'reveal_last: 1.5',
    "reveal_last: '4'",
    "reveal_last: 4, 'ab'",
    "reveal_last: 4, ''",
    "reveal: 1, 2, '*', 4",
    'pad_left',
    'pad_left: 5000',
    'slice',
    "slice: 'a'",
    'slice: 0, -1',
    "replace: 'a'",
    "replace: '', 'b'",
    "remove: ''",
    'append: 1',
    "hmac: 'md5', 'k'",
    "hmac: 'sha256'",
    "hmac: 'sha256', ''",
    'card_bin: 7',
    "card_exp: '--'",
    'card_exp: true',
  ])('%s is refused before any value is looked up', (filters) => {
    const name = /^\w+/.exec(filters)?.[0] ?? '';
    expect(() => dataTemplate(`{{ data | ${filters} }}`)).toThrow(
      `In the expression at character 0, the filter ${name} has wrong arguments.`,
    );
  });

  it.each([
    'last4 |',
    '| last4',
    'last4 x',
    'Last4',
    'append',
    "append: 'a",
    "append: 'a' 'b'",
    'append: a',
    "append: 'a',",
    String.raw`append: '\n'`,
    'slice: 01',
    'slice: +1',
  ])('in %s is not valid grammar', (filters) => {
    expect(() => dataTemplate(`{{ data | ${filters} }}`)).toThrow(
      /character 0( is not valid|, the filter append has wrong arguments)/,
    );
  });

  it('cannot make a text out of proportion', () => {
    const large = 'a'.repeat(1024 * 1024);
    expect(() => filtered(`replace: 'a', '${'b'.repeat(4_000)}'`, large)).toThrow(/replace/);
    expect(filtered('to_base16 | last4', large)).toBe('6161');
    expect(() => filtered('to_base16', `${large}a`)).toThrow(/to_base16 cannot take/);
  });

  it('pays for each value that it visits', () => {
    const wide = { a: Array(500_000).fill(0), b: 1 };
    const startedAt = performance.now();
    expect(() => dataTemplate(`{{ data${'..*'.repeat(1_300)} }}`)).toThrow(/not valid/);
    const repeated = Array.from({ length: 1_000 }, (_, i) => `{{ data..b }}${' '.repeat(i)}`);
    expect(refusal(() => dataTemplate(repeated).render(wide)).status).toBe(413);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('of a card looks only at its own members, however many others there are', () => {
    const others = Array.from({ length: 100_000 }, (_, i) => [`a${i}`, 0] as const);
    const wide = { ...card, ...Object.fromEntries(others) };
    const repeated = Array.from({ length: 900 }, (_, i) => `{{ data | card_exp }}${' '.repeat(i)}`);
    const startedAt = performance.now();
    expect(dataTemplate(repeated).render(wide)).toHaveLength(900);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('cannot be chained and repeated without end', () => {
    const large = 'a'.repeat(1024 * 1024);
    const chain = (length: number): string => Array(length).fill('upcase').join(' | ');
    expect(refusal(() => filtered(chain(32), large)).status).toBe(413);
    expect(filtered(chain(32), 'a')).toBe('A');
    expect(() => filtered(chain(33), 'a')).toThrow(/has more than 32 filters/);
    const replacing = Array<string>(9).fill("{{ data | replace: 'a', 'b' | last4 }}");
    expect(refusal(() => dataTemplate(replacing).render(large)).status).toBe(413);
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`a${i}`, [[[1]]]]));
    const repeated = Array(1_000).fill("{{ data | json: '$..none' | stringify }}");
    expect(() => dataTemplate(repeated).render(wide)).toThrow(Problem);
  });
});

describe('the values that a receiver may tell from the result', () => {
  it('are those before filters that keep or encode a text, with the expression of each', () => {
    expect(observed("| json: '$.number' | prepend: 'a:' | to_base64", card)).toEqual([
      [" data | json: '$.number' ", '4242424242424242'],
      [" data | json: '$.number' | prepend: 'a:' ", 'a:4242424242424242'],
    ]);
    expect(observed('| stringify', card)).toEqual([[' data ', card]]);
  });

  it.each(["json: '$.number'", 'card_exp', "json: '$.number' | last4 | hmac: 'sha256', 'key'"])(
    'are none where %s chooses a part or hides it',
    (chosen) => expect(observed(`| ${chosen}`, card)).toEqual([]),
  );
});
