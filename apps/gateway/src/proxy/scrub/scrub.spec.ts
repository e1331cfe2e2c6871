import { randomBytes, randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { atOnce } from '@glovebox/expressions';
import { formsOf } from './forms';
import { PutIn } from './put-in';
import { Scrubber, type Search } from './search';

const id = 'b7a1ec4a-6a4f-4d9a-8a1e-8f5d9d1f2c3b';
const shown = `{{ ${id} }}`;

function putInOf(...values: unknown[]): PutIn {
  const putIn = new PutIn();
  for (const value of values) putIn.add(` ${id} `, value);
  return putIn;
}

const room = { keep: () => undefined, takeTurn: () => Promise.resolve(() => undefined) };

async function searchIn(putIn: PutIn): Promise<Search> {
  const search = await putIn.searchIn(room);
  if (!search) throw new Error('There is nothing to look for.');
  return search;
}

const searchOf = (...values: unknown[]): Promise<Search> => searchIn(putInOf(...values));

/** The time that this process worked between two looks at its sockets: the longest, and all. */
async function workBetweenLooks(
  start: () => Promise<unknown>,
): Promise<{ readonly longest: number; readonly all: number }> {
  const slices: number[] = [];
  let isDone = false;
  let before = process.cpuUsage();
  const work = start().finally(() => (isDone = true));
  while (!isDone) {
    await nextTurn();
    const { user, system } = process.cpuUsage(before);
    slices.push((user + system) / 1_000);
    before = process.cpuUsage();
  }
  await work;
  return { longest: Math.max(...slices), all: slices.reduce((a, b) => a + b, 0) };
}

/** What comes out of an answer that comes in these chunks. */
function scrubbed(search: Search, ...chunks: (string | Buffer)[]): string {
  const scrubber = new Scrubber(search);
  const parts = chunks.map((chunk, at) =>
    scrubber.write(Buffer.from(chunk as string), at === chunks.length - 1),
  );
  return Buffer.concat(parts).toString('latin1');
}

/** Looks at each place for each form, and takes the longest. */
function replacedOneByOne(answer: Buffer, texts: readonly string[]): string {
  const searched = texts.map((text) => (Buffer.byteLength(text.trim()) < 4 ? text : text.trim()));
  const forms = searched
    .flatMap((text) => atOnce(formsOf(text)))
    .map((form) => form.toString('latin1'));
  const whole = answer.toString('latin1');
  let made = '';
  for (let at = 0; at < whole.length;) {
    const found = forms.filter((form) => whole.startsWith(form, at));
    const longest = Math.max(0, ...found.map(({ length }) => length));
    made += longest > 0 ? shown : whole.charAt(at);
    at += longest || 1;
  }
  return made;
}

/** Of one alphabet each, so that values repeat themselves and overlap. */
const alphabets = ['0123456789', 'ab', 'abcXYZ/+ "\\<>&\'%', 'aé漢😀', '\u0000\n\t\u2028{}'];

function randomText(alphabet = alphabets[randomInt(alphabets.length)] ?? ''): string {
  const characters = [...alphabet];
  const length = 4 + randomInt(24);
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('');
}

const markup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const htmlOf = (text: string, double: string, single: string): string =>
  `<p title="${markup(text).replaceAll('"', double).replaceAll("'", single)}">`;

/** A URL leaves out tabs and line ends, and takes a backslash of its path for a slash. */
function urlWith(part: 'pathname' | 'search' | 'hash', text: string): string {
  const url = new URL('http://a/');
  url[part] = `b=${text.replace(/[\n\t]/g, encodeURIComponent)}`;
  return url.href;
}

/** The forms as other programs make them, with nothing of ours. */
const writers: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  JSON: (text) => JSON.stringify({ a: text }),
  'JSON of PHP': (text) =>
    JSON.stringify({ a: text })
      .replaceAll('/', '\\/')
      .replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  path: (text) => `/a/${encodeURIComponent(text)}/b`,
  form: (text) => `a=1&${new URLSearchParams({ b: text }).toString()}&c=2`,
  'JSON of Gson': (text) =>
    JSON.stringify({ a: text }).replace(
      /[<>&='\u2028\u2029]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  'path of Python': (text) =>
    `/a/${encodeURIComponent(text)
      .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%2F', '/')}/b`,
  encodeURI: (text) => encodeURI(`http://a/${text}/b`),
  'path of a URL': (text) => urlWith('pathname', text.replaceAll('\\', '%5C')),
  'query of a URL': (text) => urlWith('search', text),
  'fragment of a URL': (text) => urlWith('hash', text),
  'every byte percent-encoded': (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&'),
  'the text of an element': (text) => `<p>${markup(text)}</p>`,
  'HTML of Python': (text) => htmlOf(text, '&quot;', '&#x27;'),
  'HTML of Go': (text) => htmlOf(text, '&#34;', '&#39;'),
  'HTML of .NET and lodash': (text) => htmlOf(text, '&quot;', '&#39;'),
  'HTML of PHP': (text) => htmlOf(text, '&quot;', '&#039;'),
  XML: (text) => htmlOf(text, '&quot;', '&apos;'),
  'base 64': (text) => Buffer.from(text).toString('base64'),
  'base 64 behind one byte': (text) => Buffer.from(`:${text}: more`).toString('base64'),
  'base 64 behind two bytes': (text) => Buffer.from(`ab${text}`).toString('base64'),
  'base64url behind a name': (text) => Buffer.from(`name:${text}`).toString('base64url'),
};

describe('a value that was put in', () => {
  it.each(Object.entries(writers))(
    'never comes back as %s, wherever chunks end',
    async (_, write) => {
      for (let round = 0; round < 40; round += 1) {
        const text = randomText();
        const search = await searchOf(text);
        const noise = randomBytes(randomInt(40)).toString('latin1');
        const answer = Buffer.from(`${noise}${write(text)}${noise}${write(text)}`);
        const expected = replacedOneByOne(answer, [text]);
        expect(expected).toContain(shown);
        for (let at = 0; at <= answer.length; at += 1) {
          const made = scrubbed(search, answer.subarray(0, at), answer.subarray(at));
          if (made !== expected) expect([text, at, made]).toEqual([text, at, expected]);
        }
        const bytes = [...answer].map((byte) => Buffer.from([byte]));
        expect(scrubbed(search, ...bytes)).toBe(expected);
      }
    },
  );

  it('is told from others that overlap it, as a plain replacement tells them', async () => {
    for (let round = 0; round < 300; round += 1) {
      const alphabet = alphabets[round % 2] ?? '';
      const texts = Array.from({ length: 1 + randomInt(8) }, () => randomText(alphabet));
      const pieces = Array.from({ length: 12 }, () => {
        const text = texts[randomInt(texts.length)] ?? '';
        return [text, text.slice(0, -1), text.slice(1), randomText(alphabet)][randomInt(4)] ?? '';
      });
      const answer = Buffer.from(pieces.join(''));
      const [one = 0, two = 0] = [randomInt(answer.length), randomInt(answer.length)].sort(
        (a, b) => a - b,
      );
      const chunks = [answer.subarray(0, one), answer.subarray(one, two), answer.subarray(two)];
      expect(scrubbed(await searchOf(...texts), ...chunks)).toBe(replacedOneByOne(answer, texts));
    }
  });

  it('of 20 KB becomes one expression, and no part of it comes back', async () => {
    const value = randomBytes(10_000).toString('hex');
    const search = await searchOf(value);
    for (const write of [writers.raw, writers['base 64']]) {
      const text = write?.(value) ?? '';
      const made = scrubbed(search, `<${text.slice(0, 5_000)}`, `${text.slice(5_000)}>`);
      expect(made).toMatch(new RegExp(`^<\\{\\{ ${id} \\}\\}.?=*>$`));
      const cut = scrubbed(search, text.slice(1_024, 3_072 + 100));
      expect(cut).toBe(shown + text.slice(3_072, 3_172));
    }
  });

  it('is never found by the few bytes that are left of it behind parts', async () => {
    const value = randomBytes(544).toString('hex');
    const search = await searchOf(value);
    for (const length of [1, 16, 64, 256]) {
      expect(scrubbed(search, value.slice(-length))).toBe(value.slice(-length));
    }
    expect(scrubbed(search, value)).toBe(shown);
  });

  it('is looked for member by member where it is an object', async () => {
    const card = { number: '4242424242424242', cvc: '123', expiration_year: 2031, 1: [true, null] };
    const made = scrubbed(await searchOf(card), 'number=4242424242424242 2031 123 true');
    expect(made).toBe(`number=${shown} 2031 123 true`);
  });

  it('never comes back where its receiver trimmed it', async () => {
    const search = await searchOf('  a secret\t', ' abc ', '\nabcd');
    expect(scrubbed(search, '[a secret][  a secret\t][ a secret]')).toBe(
      `[${shown}][  ${shown}\t][ ${shown}]`,
    );
    expect(scrubbed(search, Buffer.from('a secret').toString('base64'))).toMatch(
      /^\{\{.*\}\}.?=?$/,
    );
    // What is left of a value is as short as any text that is not looked for.
    expect(scrubbed(search, '[abc][ abc ][abcd]')).toBe(`[abc][${shown}][${shown}]`);
  });

  it('is not looked for where it is shorter than 4 bytes, or a number of less than 6 digits', async () => {
    const short = putInOf('abc', 12_345, true, null, {}, []);
    expect(await short.searchIn(room)).toBeUndefined();
    expect(scrubbed(await searchOf('abcd', 123_456), 'abcd 123456')).toBe(`${shown} ${shown}`);
  });
});

describe('the expression in its place', () => {
  it.each([
    [' card | json: "$.number" ', "{{ card | json: '$.number' }}"],
    ["card | append: 'é'", '[redacted]'],
    ['card | append: "\'"', '[redacted]'],
    [`card${" | append: 'abcdefgh'".repeat(5)}`, '[redacted]'],
  ])('of %j is %j', async (source, expected) => {
    const putIn = new PutIn();
    putIn.add(source, 'a value');
    expect(scrubbed(await searchIn(putIn), '<a value>')).toBe(`<${expected}>`);
  });
});

describe('the search is bounded', () => {
  it('to 300 texts and 64 KiB of a call', () => {
    const tooMuch = expect.objectContaining({ code: 'payload_too_large' }) as Error;
    const many = Array.from({ length: 300 }, (_, at) => `text ${at}`);
    expect(() => putInOf(...many, 'text 1')).not.toThrow();
    expect(() => putInOf(...many, 'one more')).toThrow(tooMuch);
    expect(() => putInOf('a'.repeat(65_536))).not.toThrow();
    expect(() => putInOf('a'.repeat(65_537))).toThrow(tooMuch);
    expect(() => new PutIn().addOpened(undefined)).toThrow(tooMuch);
  });

  it('holds back no byte that begins no value', async () => {
    const scrubber = new Scrubber(await searchOf('secret of mine'));
    expect(String(scrubber.write(Buffer.from('data: secre\n\n'), false))).toBe('data: secre\n\n');
    expect(String(scrubber.write(Buffer.from('data: secre'), false))).toBe('data: ');
    expect(String(scrubber.write(Buffer.from('cy'), true))).toBe('secrecy');
  });

  it('ends for an answer of a million beginnings', async () => {
    const search = await searchOf(`${'a'.repeat(100)}b`);
    const chunk = Buffer.from('a'.repeat(65_536));
    const scrubber = new Scrubber(search);
    const write = (): void => {
      for (let nth = 0; nth < 100; nth += 1) scrubber.write(chunk, false);
    };
    expect(write).toThrow('too often to be searched');
  });
});

describe('the search for the largest values of a call', () => {
  const costly = "é&'/~é=?".repeat(36).slice(0, 165);

  it.each([
    ['one text', ['é'.repeat(32_768)]],
    ['one text of signs', ['"&\'/~<=?'.repeat(8_192)]],
    ['300 texts', Array.from({ length: 300 }, (_, nth) => `${nth} ${costly}`)],
  ])('of %s is made in slices', async (_, values) => {
    const putIn = putInOf(...values);
    const turns = { taken: 0 };
    let kept = 0;
    const keep = (bytes: number): void => void (kept += bytes);
    const takeTurn = (): Promise<() => void> => {
      turns.taken += 1;
      return Promise.resolve(() => undefined);
    };
    const { longest, all } = await workBetweenLooks(() => putIn.searchIn({ keep, takeTurn }));
    // A slice takes 5 ms, and on a slow machine some of the steps in it as long.
    expect(longest).toBeLessThan(Math.max(25, all / 3));
    expect(turns.taken).toBe(1);
    expect(putIn.searchBytes).toBe(kept);
    expect(kept).toBeGreaterThan(2 * 65_536);
    const search = await putIn.searchIn({ keep, takeTurn });
    const onlyShown = new RegExp(`^(?:\\{\\{ ${id} \\}\\})+$`);
    for (const value of values) expect(search && scrubbed(search, value)).toMatch(onlyShown);
  });

  it('is not made where there is no room for it', async () => {
    const keep = (): void => {
      throw new Error('no room');
    };
    await expect(putInOf('a value').searchIn({ ...room, keep })).rejects.toThrow('no room');
  });
});
