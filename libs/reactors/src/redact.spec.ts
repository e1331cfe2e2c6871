import { Console } from 'node:console';
import { inspect } from 'node:util';
import { atOnce } from '@glovebox/expressions';
import type { Problem } from '@glovebox/problems';
import type { ThrownError } from '@glovebox/sandbox';
import { fastest, fractionsFrom, testSeed } from '@glovebox/testing';
import { OpenedValues } from './opened-values';
import { knownValuesMax } from './known-values';
import { nameValues } from './name-values';
import { redactorOf, type KnownToRun } from './redact';
import { returnedValue } from './reactor-response';
import { aReactor, knowing } from './spec-known';

const value = 'p@ss "w/rd" + größer';
const redactor =
  (known: readonly unknown[]): ((text: string) => string) =>
  (text) =>
    atOnce(redactorOf(knowing(known))([text])).join();
const redact = redactor([{ number: '4242424242424242', cvc: '123', pin: 7, value }]);

const formed = (text: string): string =>
  new URLSearchParams({ a: text }).toString().slice('a='.length);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

it.each([
  ['as it is', value],
  ['JSON-escaped', JSON.stringify(value).slice(1, -1)],
  ['JSON-escaped twice', JSON.stringify(JSON.stringify(value)).slice(3, -3)],
  ['JSON-escaped with \\u', value.replace(/[^a-z]/g, escapeOf)],
  ['percent-encoded', encodeURIComponent(value)],
  ['percent-encoded in lower case', encodeURIComponent(value).toLowerCase()],
  ['as a form', formed(value)],
  ['in hex', Buffer.from(value).toString('hex')],
  ['in upper-case hex', Buffer.from(value).toString('hex').toUpperCase()],
  ['in base64 behind 1 byte', base64(`x${value}`)],
  ['in base64 behind 2 bytes', base64(`xy${value}tail`)],
  ['in base64', base64(value)],
  ['in base64 without padding', base64(value).replace(/=+$/, '')],
  ['in base64url', Buffer.from(value).toString('base64url')],
  ['in base64 that was percent-encoded', encodeURIComponent(base64(value))],
])('a value that the run knew is redacted when it is written %s', (_, encoded) => {
  const shown = redact(`said: ${encoded}; and more`);
  expect(shown).toMatch(/^said: .{0,3}\[redacted\].{0,8}; and more$/);
});

describe('a value of several lines is redacted as console writes it', () => {
  const key = `-----BEGIN KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(3)}-----END KEY-----\n`;
  const yaml = `account:\n  number: 4242\n  holder: Ada\n`;
  const thrown = Object.assign(new Error(key), { stack: `Error: ${key}\n    at reactor.js:1:1` });
  const ofValues = redactor([key, yaml]);

  const written = (write: (to: Console) => void): string => {
    let text = '';
    const lines = { write: (line: string) => (text += line) };
    write(
      new Console({
        stdout: lines as unknown as NodeJS.WritableStream,
        ignoreErrors: false,
        colorMode: false,
      }),
    );
    return text;
  };

  it.each<[string, (to: Console) => void]>([
    ['as a text', (to) => to.log(key)],
    ['in an object', (to) => to.log({ a: { key } })],
    ['in a list', (to) => to.log([yaml, key])],
    ['with both kinds of quotes', (to) => to.log({ a: `'${key}`, b: `'"${key}` })],
    ['in an error', (to) => to.log(thrown)],
    ['in an error of an object', (to) => to.log({ a: { error: thrown } })],
    ['in a group', (to) => (to.group('a'), to.log(key), to.log({ a: key }))],
    ['in a group, with lines of its own indent', (to) => (to.group(), to.group(), to.log(yaml))],
    ['in a table', (to) => to.table([{ key, yaml }])],
    ['wrapped at other places than its own', (to) => to.log(key.replace(/.{29}/gs, '$&\n  '))],
  ])('%s', (_, write) => {
    const shown = ofValues(written(write));
    expect(shown).toContain('[redacted]');
    expect(shown).not.toMatch(/MII|END|Ada|4242/);
  });

  it('and also where its text was cut', () => {
    const text = written((to) => to.log({ a: { key } }));
    for (let length = 1; length < text.length; length += 1) {
      const shown = ofValues(text.slice(0, length));
      expect({ length, shown }).toEqual({
        length,
        shown: expect.not.stringMatching(/MII/) as string,
      });
    }
  });
});

it.each([
  ['declined 4242424242424242, 123 of 1234', 'declined [redacted], [redacted] of 1234'],
  ['7 of 17 (cvc=123)', '[redacted] of 17 (cvc=[redacted])'],
  ['{"cvc":"123"}', '{"cvc":"[redacted]"}'],
  [`Basic ${base64('123')}, ${base64('1234')}`, `Basic ${base64('123')}, ${base64('1234')}`],
  ['%31%32%33 \\u0031\\u0032\\u0033 313233', '%31%32%33 \\u0031\\u0032\\u0033 313233'],
  ['{\\"cvc\\":\\n123}', '{\\"cvc\\":\\n[redacted]}'],
  ['nothing of it', 'nothing of it'],
  ['ends with 42424242', 'ends with [redacted]'],
  [`ends with ${encodeURIComponent(value).slice(0, -4)}`, 'ends with [redacted]'],
  [`ends with ${base64(value).slice(0, -7)}`, 'ends with [redacted]'],
])('"%s" is shown as "%s"', (text, shown) => {
  expect(redact(text)).toBe(shown);
});

it('a value is redacted in the bytes of a Buffer, as Node.js prints them', () => {
  const long = 'key '.repeat(20);
  const printed = (text: string): string =>
    redactor([value, '123', long])(inspect({ b: Buffer.from(text) }, { breakLength: Infinity }));
  expect(printed(`x${value}y`)).toBe('{ b: <Buffer 78 [redacted] 79> }');
  expect(printed('123')).toBe('{ b: <Buffer 31 32 33> }');
  expect(printed('1234')).toBe('{ b: <Buffer 31 32 33 34> }');
  // Node.js prints 50 bytes of a longer one.
  expect(printed(long)).toBe('{ b: <Buffer [redacted]');
});

it.each<[string, unknown, string]>([
  ['a Buffer', Buffer.from(value), '<Buffer [redacted]>'],
  ['a list of Buffers', [Buffer.from(`a${value}`)], '<Buffer 61 [redacted]>'],
  ['an ArrayBuffer', new TextEncoder().encode(value).buffer, '<[redacted]>'],
])('a value is redacted where Node shows the bytes of %s', (_, bytes, shown) => {
  expect(redact(inspect(bytes))).toContain(shown);
});

it('a short value is redacted as a whole word, and true and false are no secrets', () => {
  const short = redactor(['ab', true, null, '-', '']);
  expect(short('ab abc true null - x-ab')).toBe('[redacted] abc true null - x-[redacted]');
});

it('a number is redacted as code gets it, however its text was written', () => {
  const parameters = [{ name: 'card.number', type: 'number', optional: false }] as const;
  const known = { ...knowing(null), args: { card: { number: '00424242.50' } }, parameters };
  expect(atOnce(redactorOf(known)(['424242.5, 00424242.50, 424243']))).toEqual([
    '[redacted], [redacted], 424243',
  ]);
});

describe('what came in plain', () => {
  const sent = {
    ...{ attempt: 1, of: 12, country: 'DE', blank: '', retry: true, none: null },
    ...{ amount: 100, city: 'Ulm', list: [3, 'ab', 'abc'] },
    ...{ note: 'sent by Ada', order: { id: 'ord_1', lines: [{ sku: 'sku_77' }] } },
    ...{ token: '{{ id }}', part: '{{ id | slice: 0, 2 }}', '1': 'by place' },
  };
  const args = { ...sent, token: '4000000000000069', part: '40' };
  const shown = (text: string, more: Partial<KnownToRun> = {}): string =>
    atOnce(redactorOf(knowing(null, { args, sent, ...more }))([text])).join();
  const declared = (name: string) => [
    { name, type: 'object', optional: false, loggable: true } as const,
  ];

  it('is shown where it is a boolean, or a number or text of up to two characters', () => {
    expect(shown('attempt 1 of 12 in DE, true null 3 ab')).toBe(
      'attempt 1 of 12 in DE, true null 3 ab',
    );
    expect(shown('100 in Ulm, abc')).toBe('[redacted] in [redacted], [redacted]');
  });

  it('is redacted all the same where a token, configuration or what code opened has it', () => {
    const opened = new OpenedValues();
    opened.add('svc.tokens.retrieve', { data: { code: 'DE' } });
    const more = { data: [{ month: 12 }], configuration: { retries: '1' }, opened };
    expect(shown('attempt 1 of 12 in DE; 3', more)).toBe(
      'attempt [redacted] of [redacted] in [redacted]; 3',
    );
  });

  it('is no part of a token that an expression made', () => {
    expect(shown('begins with 40: 4000000000000069')).toBe('begins with [redacted]: [redacted]');
    expect(shown('40', { sent: '{{ id }}' })).toBe('[redacted]');
    expect(shown('1', { sent: undefined })).toBe('[redacted]');
  });

  it('is shown where it is declared loggable, with all below it', () => {
    const text = 'sent by Ada, ord_1, sku_77, 100';
    expect(shown(text)).toBe('[redacted], [redacted], [redacted], [redacted]');
    expect(shown(text, { parameters: declared('note') })).toBe(
      'sent by Ada, [redacted], [redacted], [redacted]',
    );
    expect(shown(text, { parameters: declared('order') })).toBe(
      '[redacted], ord_1, sku_77, [redacted]',
    );
    expect(shown(text, { parameters: declared('order.id') })).toBe(
      '[redacted], ord_1, [redacted], [redacted]',
    );
    expect(shown(text, { parameters: [...declared('order.id'), ...declared('order')] })).toBe(
      '[redacted], ord_1, sku_77, [redacted]',
    );
  });

  it('is not shown by a declaration where a token, configuration or what code opened has it', () => {
    const parameters = [...declared('order'), ...declared('note'), ...declared('token')];
    const more = { data: [{ sku: 'sku_77' }], configuration: { name: 'Ada' }, parameters };
    expect(shown('sent by Ada, ord_1, sku_77, 4000000000000069', more)).toBe(
      'sent by [redacted], ord_1, [redacted], [redacted]',
    );
  });

  it('is decided by the number where a text is cast to one', () => {
    const number = { name: 'n', type: 'number', optional: false } as const;
    const of = (text: string, from: string, parameters: KnownToRun['parameters'] = [number]) =>
      shown('42 420', { args: { n: text }, sent: { n: from }, parameters });
    expect(of('0420', '0420')).toBe('42 [redacted]');
    expect(of('0042', '0042')).toBe('42 420');
    expect(of('0042', '{{ id }}')).toBe('[redacted] 420');
    expect(of('0420', '0420', [{ ...number, loggable: true }])).toBe('42 420');
  });

  it('never shows what a token, configuration or code knew, whatever was declared', () => {
    const seed = testSeed();
    const random = fractionsFrom(seed);
    const letters = 'abcdefg12';
    const letter = (): string => letters.charAt(Math.floor(random() * letters.length));
    const word = (): string =>
      Array.from({ length: 1 + Math.floor(random() * 6) }, letter).join('');
    for (let round = 0; round < 300; round += 1) {
      const secrets = [word(), word(), word()] as const;
      const plain = [word(), word(), word(), word()];
      const opened = new OpenedValues();
      opened.add('svc.detokenize', [secrets[2]]);
      const members = Object.fromEntries([...plain, secrets[0]].map((text, n) => [`p${n}`, text]));
      const loggable = Object.keys(members).filter(() => random() < 0.5);
      const known = knowing(null, {
        ...{ data: [{ a: secrets[0] }], configuration: { b: secrets[1] }, opened },
        args: { ...members, filled: secrets[0] },
        sent: { ...members, filled: '{{ id }}' },
        parameters: [...loggable, 'filled'].flatMap(declared),
      });
      const [line = ''] = atOnce(redactorOf(known)([[...plain, ...secrets].join(' | ')]));
      const words = line.split(' | ');
      const told = { seed, known, line };
      expect({ ...told, shown: words.slice(4) }).toEqual({
        ...told,
        shown: Array(3).fill('[redacted]'),
      });
      const hidden = [
        ...secrets,
        ...plain.filter((text, n) => text.length > 2 && !loggable.includes(`p${n}`)),
      ];
      plain.forEach((text, n) => {
        const isHidden = hidden.some((other) =>
          other.length < 4 ? text === other : text.includes(other),
        );
        const shown = words[n]?.includes('[redacted]') ? 'redacted' : words[n];
        expect({ ...told, shown }).toEqual({ ...told, shown: isHidden ? 'redacted' : text });
      });
    }
  });
});

describe('the name of a member', () => {
  const data = [{ expiration_month: 1, account_number: 2, 'Ada Lovelace': { secret_name: [3] } }];
  const shown = (text: string, more: Partial<KnownToRun> = {}): string =>
    atOnce(redactorOf(knowing({ plain_argument: 4 }, { data, ...more }))([text])).join();
  const names = 'Ada Lovelace, secret_name';

  it('is redacted in the data of tokens, as values are', () => {
    expect(shown(names)).toBe('[redacted], [redacted]');
    expect(shown(`${base64('secret_name')} ends with secret_`)).toMatch(
      /^\[redacted\]=? ends with \[redacted\]$/,
    );
    expect(shown(inspect(data, { breakLength: Infinity }))).toBe(
      `[ { expiration_month: [redacted], account_number: [redacted], '[redacted]': { [redacted]: [Array] } } ]`,
    );
  });

  it('is redacted in what the code opened, and in what it stored', () => {
    const opened = new OpenedValues();
    opened.add('svc.tokens.retrieve', { id: 'an id', data: { from_retrieve: 1 } });
    opened.addStored(
      'svc.tokenize',
      { in_document: { type: 'token', data: { from_store: 1 } } },
      0,
    );
    opened.add('svc.tokenize', [{ id: 'an id', type: 'token', data: { from_older_token: 1 } }]);
    expect(shown('from_retrieve, from_store, from_older_token, in_document', { opened })).toBe(
      '[redacted], [redacted], [redacted], in_document',
    );
  });

  it('is shown where a type, a parameter, the configuration or the code has it, and of arguments', () => {
    expect(shown('expiration_month account_number plain_argument')).toBe(
      'expiration_month account_number plain_argument',
    );
    const parameters = [{ name: 'person.secret_name', type: 'object', optional: false }] as const;
    expect(shown(names, { parameters })).toBe('[redacted], secret_name');
    expect(shown(names, { configuration: { secret_name: 'x' } })).toBe('[redacted], secret_name');
    expect(shown(names, { code: 'args.data.secret_name' })).toBe('[redacted], secret_name');
    expect(shown(names, { code: `args['Ada Lovelace']` })).toBe('Ada Lovelace, [redacted]');
  });

  it('that the code almost contains costs a step for each character', () => {
    const near = 'a'.repeat(25_000);
    const data = Array.from({ length: 100 }, (_, n) => ({ [`${'a'.repeat(n)}b${near}`]: true }));
    const before = process.cpuUsage();
    expect(shown('aaaa', { data, code: 'a'.repeat(50_000) })).toBe('[redacted]');
    const { user, system } = process.cpuUsage(before);
    // About 200 ms. With a step for each pair of characters it takes 7 s.
    expect((user + system) / 1_000).toBeLessThan(3_000);
  });

  it('is redacted all the same where it is a value too', () => {
    const more = { code: 'secret_name', configuration: { key: 'secret_name' } };
    expect(shown(names, more)).toBe('[redacted], [redacted]');
  });
});

it('a value is redacted where it is spread over several lines of the log', () => {
  const key = 'first\n  second line\nthird';
  const lines = atOnce(
    redactorOf(knowing([value, key]))([
      `a ${value.slice(0, 9)}`,
      `  ${value.slice(9)} b`,
      ...key.split('\n'),
      'end',
    ]),
  );
  expect(lines).toEqual([
    ...['a [redacted]', '[redacted] b', '[redacted]', '[redacted]', '[redacted]'],
    'end',
  ]);
});

it.each([
  ['a text', 'x'.repeat(20)],
  ['hex', Buffer.from(value).toString('hex')],
  ['base64', base64(value)],
  ['percent-encoding', encodeURIComponent(value)],
])('the beginning of a value is redacted where Node.js cut it in %s', (_, encoded) => {
  const cutOf = redactor([value, 'x'.repeat(30)]);
  for (let maxStringLength = 18; maxStringLength < encoded.length; maxStringLength += 1) {
    const text = inspect({ a: encoded }, { maxStringLength, breakLength: Infinity });
    const cut = /^\{ a: '\[redacted\]'\.\.\. \d+ more characters? \}$/;
    expect(cutOf(text)).toMatch(cut);
  }
});

describe('redacting an error of code', () => {
  const known = Array.from({ length: 100_000 }, (_, n) => ({ n: `value ${n}`, text: `${n}:x` }));
  const cases: [string, readonly unknown[], ThrownError][] = [
    ['1 MiB of body, 200,000 values', [known], custom(known.slice(0, 25_000))],
    ['a body of line breaks', [known], custom('\n'.repeat(1_000_000))],
    ['values of line breaks', ['\n'.repeat(1_000_000), '\n'.repeat(1_100_000)], custom('said')],
    ['texts and values of one letter', sameLetter(10_000), listed('a'.repeat(1_000))],
    ['texts in every encoding', [known], listed('%41\\u0041+QUFB'.repeat(70))],
    ['a million arguments', [Array.from({ length: 1_000_000 }, (_, n) => n)], listed('1')],
  ];

  it.each(cases)('costs little processor time: %s', async (_, values, error) => {
    const before = process.cpuUsage();
    const { errors } = await problemOf(values, error);
    const { user, system } = process.cpuUsage(before);
    // About 200 ms, and 2 s in a process with a large heap to collect. Unbounded it takes minutes.
    expect((user + system) / 1_000).toBeLessThan(10_000);
    expect(Object.values(errors ?? {}).flat().length).toBeLessThanOrEqual(50);
  });

  it.each(cases)('lets others be served meanwhile: %s', async (_, values, error) => {
    const longestMs = async (): Promise<number> => {
      let isOver = false;
      let before = process.cpuUsage();
      const over = problemOf(values, error).finally(() => (isOver = true));
      let longest = 0;
      do {
        const { user, system } = process.cpuUsage(before);
        longest = Math.max(longest, (user + system) / 1_000);
        before = process.cpuUsage();
        await new Promise((resolve) => setImmediate(resolve));
      } while (!isOver);
      await over;
      return longest;
    };
    // Slices of 5 ms, and now and then a garbage collection. In one piece it takes 250 ms.
    expect(await fastest(60, longestMs)).toBeLessThan(60);
  });

  it('shows nothing of a text above its budget', async () => {
    expect(redactor(Array(knownValuesMax + 1).fill('x'))('said')).toBe('[redacted]');
    const { errors } = await problemOf(sameLetter(10_000), listed('a'.repeat(1_000)));
    expect(Object.values(errors ?? {}).flat()).toEqual(Array(50).fill('[redacted]'));
  });
});

/** By the processor time of this process. */
function longestStepMs(work: Iterator<unknown>): number {
  let longestMs = 0;
  for (let isOver = false; !isOver;) {
    const before = process.cpuUsage();
    isOver = work.next().done === true;
    const { user, system } = process.cpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
  }
  return longestMs;
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function sameLetter(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${'a'.repeat(990)}${n}`);
}

function custom(body: unknown): ThrownError {
  return { name: 'CustomHttpResponseError', message: '', status: 402, body };
}

function listed(text: string): ThrownError {
  return { name: 'BadRequestError', message: '', errors: { a: Array<string>(50).fill(text) } };
}

async function problemOf(known: readonly unknown[], error: ThrownError): Promise<Problem> {
  try {
    await returnedValue({ kind: 'threw', error }, redactorOf(knowing(known)), aReactor);
  } catch (problem) {
    return problem as Problem;
  }
  throw new Error('nothing was thrown');
}

describe('values with names', () => {
  const named = (lines: readonly string[], stepsMax = 1_000_000) =>
    atOnce(
      nameValues(
        lines,
        [
          { name: 'last four', value: '4242' },
          { name: 'card', value: { number: '5555444433334242', cvc: '987', 'Ada Lovelace': 1 } },
          { name: 'again', value: '4242' },
        ],
        stepsMax,
      ),
    );

  it('are named in texts: of those that overlap the longer one, of those that are the same the first', () => {
    expect(named(['a 5555444433334242, 4242', base64('5555444433334242'), 'plain'])).toEqual([
      [{ text: 'a ' }, { name: 'card' }, { text: ', ' }, { name: 'last four' }],
      [{ name: 'card' }, { text: '==' }],
      [{ text: 'plain' }],
    ]);
  });

  it('count with the names of their members, and as words where they are short', () => {
    expect(named(['Ada Lovelace', '987', '9876'])).toEqual([
      [{ name: 'card' }],
      [{ name: 'card' }],
      [{ text: '9876' }],
    ]);
  });

  it('are not looked for where that takes too much work', () => {
    expect(named(['x'.repeat(10_000)], 1_000)).toBeUndefined();
  });

  it('let others be served meanwhile, however many there are and however they overlap', async () => {
    const repeated = [4, 5, 6, 7, 8, 9].map((length) => 'a'.repeat(length));
    const short = Array.from({ length: 40_000 }, (_, n) => (n + 36 ** 2).toString(36).slice(-3));
    const many = Array.from({ length: 1_000 }, (_, n) => ({ name: `n${n}`, value: `value ${n}` }));
    for (const [text, known] of [
      [short.slice(0, 15_000).join(' '), [{ name: 'short', value: short }, ...many]],
      ['a'.repeat(60_000), [{ name: 'a', value: repeated }]],
    ] as const) {
      const longestMs = () => longestStepMs(nameValues([text], known, 8_000_000));
      expect(await fastest(60, longestMs)).toBeLessThan(60);
    }
  });
});
