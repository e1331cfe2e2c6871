import type { FreeMembers } from './json-scanner';
import { parseStrictJson as parseText, StrictJson, type JsonRules } from './strict-json';

/** In pieces of so many bytes. */
function countIn(pieces: number, bytes: Buffer, free?: FreeMembers): StrictJson {
  const json = new StrictJson(free);
  for (let at = 0; at < bytes.length; at += pieces) json.count(bytes.subarray(at, at + pieces));
  return json;
}

function atOnce(work: Generator<undefined, unknown, undefined>): unknown {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

const parseBytes = (bytes: Buffer, { free }: JsonRules = {}): unknown =>
  atOnce(countIn(64 * 1024, bytes, free).parse(bytes));

const parseStrictJson = (text: string, rules?: JsonRules): unknown =>
  rules?.standIn ? atOnce(parseText(text, rules)) : parseBytes(Buffer.from(text), rules);

const code = (text: string): unknown => {
  try {
    parseStrictJson(text);
    return 'accepted';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

const textsOf = (text: string, count: number): string =>
  `[${Array(count - 1)
    .fill(text)
    .join(',')}]`;

describe('strict JSON', () => {
  it.each(['{}', '[]', '"a"', '1', 'null', '{"a":{"b":[1,{"a":2}]},"b":1}', '{"a":"{\\"a\\":1}"}'])(
    'takes %s as JSON.parse does',
    (text) => {
      expect(parseStrictJson(text)).toEqual(JSON.parse(text));
    },
  );

  it('accepts a pair of surrogates, escaped or not', () => {
    expect(parseStrictJson('["😀","\\ud83d\\ude00"]')).toEqual(['😀', '😀']);
  });

  it.each([
    ['', 'nothing'],
    ['{"a":1,"a":2}', 'a duplicate member'],
    ['{"a":1,"\\u0061":2}', 'a duplicate member in another spelling'],
    ['{"x":{"a":1,"b":[{}],"a":2}}', 'a duplicate member further down'],
    ['{"__proto__":{}}', '__proto__'],
    ['{"a":{"constructor":1}}', 'constructor'],
    ['["\\ud800"]', 'half a surrogate pair, escaped'],
    ['{"a":', 'an end in the middle'],
    ['"\\', 'an open escape'],
    ['{} {}', 'two documents'],
    ['NaN', 'what is not JSON'],
  ])('refuses %j: %s', (text) => {
    expect(code(text)).toBe('invalid_json');
  });

  it('accepts 64 levels and refuses 65, whatever follows', () => {
    expect(code('['.repeat(64) + ']'.repeat(64))).toBe('accepted');
    expect(code('['.repeat(65) + ']'.repeat(65))).toBe('invalid_json');
    expect(code('{"a":'.repeat(100_000))).toBe('invalid_json');
  });

  it.each<[string, (count: number) => string]>([
    [
      'numbers',
      (count) =>
        `[${Array(count - 1)
          .fill('1')
          .join(',')}]`,
    ],
    [
      'lists',
      (count) =>
        `[ ${Array(count - 1)
          .fill('[ ]')
          .join(' , ')} ]`,
    ],
    ['texts that hold what looks like values', (count) => textsOf('"[1,\\"2,{}]"', count)],
    [
      'members',
      (count) => `{${Array.from({ length: count - 1 }, (_, n) => `"${n}":{}`).join(',')}}`,
    ],
  ])('accepts 100,000 values and refuses one more before anything is built: %s', (_, make) => {
    const allowed = make(100_000);
    expect(parseStrictJson(allowed, { free: 'all' })).toEqual(JSON.parse(allowed));
    // JSON.parse would only say that it is not JSON.
    const broken = `${make(100_001)}]`;
    expect(() => parseStrictJson(broken, { free: 'all' })).toThrow(/more than 100000 values/);
    expect(() => parseStrictJson(broken)).toThrow(/more than 10+ (values|members)/);
  });

  it('takes time that grows only with the text for 10 MiB of anything', () => {
    const bytes = 10 * 1024 * 1024;
    const filled = (unit: string): string => unit.repeat(Math.floor(bytes / unit.length));
    const many = (value: string): string => `[${Array(99_000).fill(value).join(',')}]`;
    const texts = [
      ...['x', '\\"', '\\ud83d\\ude00', '😀'].map((unit) => `"${filled(unit)}"`),
      `[${filled(' ')}]`,
      many(`"${'y'.repeat(100)}"`),
      many(`0.${'0'.repeat(90)}1`),
      many(`"\\u0041${'z'.repeat(90)}"`),
    ];
    const startedAt = performance.now();
    for (const text of texts) {
      expect(code(text)).toMatch(/accepted|invalid_json/);
      expect(() => parseStrictJson(`${text}]`, { free: 'all' })).toThrow(/^Unexpected /);
    }
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('applies no rule of names and members inside what is the customer’s own', () => {
    const kept = '{"data":{"constructor":1,"__proto__":["\\ud800"]},"n":1}';
    expect(JSON.stringify(parseStrictJson(kept, { free: ['data'] }))).toBe(kept);
    for (const text of [
      '{"data":1,"constructor":1}',
      '{"data":{},"other":{"__proto__":1}}',
      '{"other":{"data":{"__proto__":1}}}',
      '{"data":{"a":1,"a":2}}',
      '{"data":1,"n":"\\ud800"}',
    ]) {
      expect(() => parseStrictJson(text, { free: ['data'] })).toThrow();
    }
  });

  it.each(['0', '-0', '1.10', '1e3', '-12.5E-3', '9007199254740991', '0.1', '1e21', '5e-324'])(
    'keeps the number %s of a customer',
    (number) => {
      const text = `{"data":[${number}]}`;
      expect(parseStrictJson(text, { free: ['data'] })).toEqual(JSON.parse(text));
    },
  );

  it.each([
    '12345678901234567890',
    '9007199254740993',
    '1e400',
    '1e-400',
    '0.10000000000000000001',
  ])('refuses %s, which would not be returned as it was sent', (number) => {
    expect(() => parseStrictJson(`{"data":${number}}`, { free: ['data'] })).toThrow(/exactly/);
    expect(() => parseStrictJson(`{"other":${number}}`, { free: ['data'] })).not.toThrow();
  });

  it('reads numbers in time that grows with the text, and refuses one of more than 400 characters', () => {
    const read = (number: string): unknown =>
      parseStrictJson(`{"data":[${number}]}`, { free: ['data'] });
    expect(read(`1${'0'.repeat(300)}`)).toEqual({ data: [1e300] });
    const startedAt = performance.now();
    expect(() => read(`1${'0'.repeat(1_000_000)}1`)).toThrow(/number of more than 400 characters/);
    const padded = `1.${'0'.repeat(390)}`;
    expect(read(Array(2_000).fill(padded).join(','))).toEqual({ data: Array(2_000).fill(1) });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('does not repeat what it refuses', () => {
    expect(() => parseStrictJson('{"card":"4111111111111111","card":1}')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('4111') as unknown }),
    );
  });
});

it('bytes that are not UTF-8 are refused', () => {
  expect(parseStrictJson('"ü"')).toBe('ü');
  expect(() => parseBytes(Buffer.from([0x22, 0xff, 0x22]))).toThrow(/UTF-8/);
  expect(() => parseBytes(Buffer.from([0x22, 0xc0, 0x80, 0x22]))).toThrow(/UTF-8/);
  expect(() => parseBytes(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toThrow(/UTF-8/);
});

it('a byte order mark before the JSON is dropped', () => {
  expect(parseStrictJson('\ufeff{"a":[1]}')).toEqual({ a: [1] });
  expect(() => parseStrictJson('\ufeff\ufeff1')).toThrow(/^Unexpected /);
});

it('a byte order mark within a long text is kept', () => {
  const text = `"${'x'.repeat(256 * 1024 - 1)}\ufeffx"`;
  expect(parseStrictJson(text, { free: 'all' })).toBe(JSON.parse(text));
});

it('a text of two million characters is decoded piece by piece without loss', () => {
  const text = `"${'aü€😀'.repeat(400_000)}"`;
  expect(parseStrictJson(text, { free: 'all' })).toBe(JSON.parse(text));
});

describe('JSON that arrives in pieces', () => {
  it.each<[string, RegExp, FreeMembers, string, string]>([
    ['values', /more than 100000 values/, 'all', `[${'1,'.repeat(99_999)}`, '1'],
    ['texts', /more than 100000 values/, 'all', `[${'"\\",",'.repeat(99_999)}`, '"x'],
    ['levels', /deeper than 64 levels/, [], '[{"a":'.repeat(32), '{'],
    [
      'members',
      /more than 10000 members/,
      ['data'],
      `{"d\\u0061ta":{},"map":{${'"m":"{,",'.repeat(10_000)}`,
      '"x',
    ],
  ])('is refused at the first byte beyond a limit: %s', (_, why, free, most, more) => {
    for (const size of [1, 7, 4_096]) {
      const json = countIn(size, Buffer.from(most), free);
      expect(() => json.count(Buffer.from(more))).toThrow(why);
    }
  });

  it('may have any number of the customer’s own members, however their name is written', () => {
    const many = `{${'"m":1,'.repeat(20_000)}"m":1}`;
    for (const name of ['data', 'd\\u0061ta']) {
      countIn(5, Buffer.from(`{"n":{},"${name}":${many}`), ['data']);
    }
    for (const name of ['dat', 'datas', 'd\\\\u0061ta', '\\u0064\\u0061\\u0074\\u0061\\u0061']) {
      const other = Buffer.from(`{"data":{},"${name}":${many}`);
      expect(() => countIn(5, other, ['data'])).toThrow(/more than 10000 members/);
    }
  });

  it('is parsed only after all of it was counted', () => {
    const bytes = Buffer.from('[1]');
    const json = countIn(1, bytes);
    expect(() => json.parse(Buffer.concat([bytes, bytes])).next()).toThrow('only what was counted');
  });

  it('is refused by the same limits when it is a text already', () => {
    const text = `[${'1,'.repeat(99_998)}1]`;
    expect(atOnce(parseText(text, { free: 'all' }))).toHaveLength(99_999);
    const more = `[${'1,'.repeat(99_999)}1]`;
    expect(() => atOnce(parseText(more, { free: 'all' }))).toThrow(/more than 100000 values/);
  });

  it('is counted by its parse when it is small, and refused when it is large and was not counted', () => {
    const deep = Buffer.from('['.repeat(65) + ']'.repeat(65));
    expect(() => atOnce(new StrictJson().parse(deep))).toThrow(/deeper than 64 levels/);
    const large = Buffer.from(`"${'x'.repeat(128 * 1024)}"`);
    expect(() => atOnce(new StrictJson().parse(large))).toThrow('only what was counted');
  });

  it('is parsed in steps, between which others are served', () => {
    const bytes = Buffer.from(`[${'"x",'.repeat(90_000)}"${'y'.repeat(4_000_000)}"]`);
    const work = countIn(bytes.length, bytes, 'all').parse(bytes);
    let steps = 0;
    while (!work.next().done) steps += 1;
    expect(steps).toBeGreaterThan(20);
  });
});

describe('the members of one object', () => {
  const wide = (count: number): string =>
    `{"map":{${Array.from({ length: count }, (_, n) => `"n${n}":1`).join()}}}`;

  it('number at most 10,000 unless the object is the customer’s own', () => {
    expect(parseStrictJson(wide(10_000))).toHaveProperty('map.n9999', 1);
    expect(() => parseStrictJson(wide(10_001))).toThrow('more than 10000 members');
    expect(parseStrictJson(wide(10_001), { free: ['map'] })).toHaveProperty('map.n10000', 1);
  });
});

describe('strict JSON with replaced numbers', () => {
  const parse = (text: string): unknown =>
    parseStrictJson(text, { free: 'all', standIn: (literal) => `"<${literal}>"` });

  it('replaces only numbers that JSON.stringify would write in another way', () => {
    expect(parse('[1,-2.5,1.0,1e5,-0,12345678901234567890,"1.0",{"1.0":2.50}]')).toEqual([
      ...[1, -2.5, '<1.0>', '<1e5>', '<-0>', '<12345678901234567890>', '1.0'],
      { '1.0': '<2.50>' },
    ]);
  });

  it.each([
    '{1.0:1}',
    '{"a":1,1.0:1}',
    '{"a":1,1.0 :1}',
    '[01.0]',
    '[1.0.0]',
    '[1.0e]',
    '[-]',
    '[1.0 1.0]',
    '1.0x',
  ])('makes nothing valid of %s', (text) => {
    expect(() => parse(text)).toThrow(/^Unexpected /);
  });
});
