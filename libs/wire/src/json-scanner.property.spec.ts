import { randomFrom, testSeed, type Random } from '@glovebox/testing';
import { StrictJson } from './strict-json';

const seed = testSeed();
const random = randomFrom(seed);
const title = (text: string): string => `${text} (TEST_SEED=${seed})`;

const pick = <Each>(all: readonly Each[], of: Random): Each => all[of(all.length)] as Each;
const strings = ['', 'x', 'a"b', '\\', '{"a":[1,', '😀€ü', 'p'.repeat(70) + '\n' + 'q'.repeat(70)];
const words = ['0', '-1', '1.50', '1e5', 'true', 'false', 'null'];
const blanks = ['', '', '', ' ', '\n', '\t '];

/** A text with members of distinct names, some of them escaped. */
function textOf(levels: number): string {
  const blank = (): string => pick(blanks, random);
  const parts = (part: (at: number) => string): string =>
    Array.from({ length: random(4) }, (_, at) => blank() + part(at) + blank()).join(',');
  const kind = levels === 0 ? random(2) : random(5);
  if (kind === 0) return pick(words, random);
  if (kind === 1) return JSON.stringify(pick(strings, random));
  if (kind < 4) return `[${parts(() => textOf(levels - 1))}]`;
  return `{${parts((at) => `"${pick(['m', '\\u006d', 'ü'], random)}${at}"${blank()}:${textOf(levels - 1)}`)}}`;
}

const valuesOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, member) => sum + valuesOf(member), 1)
    : 1;

/** Counted in parts of random sizes, then parsed. */
function parseInParts(text: string, partMax: number): unknown {
  const bytes = Buffer.from(text);
  const json = new StrictJson('all', { rounds: true });
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random(partMax);
    json.count(bytes.subarray(at, end));
    at = end;
  }
  return atOnce(json.parse(bytes));
}

function atOnce(work: Generator<undefined, unknown, undefined>): unknown {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

const outcomeOf = (work: () => unknown): unknown => {
  try {
    return { value: work() };
  } catch (error) {
    return { refused: (error as Error).message };
  }
};

it(title('JSON that is cut anywhere is read as JSON.parse reads the whole of it'), () => {
  for (let nth = 0; nth < 2_000; nth += 1) {
    const text = textOf(5);
    expect([text, parseInParts(text, pick([1, 3, 40], random))]).toEqual([text, JSON.parse(text)]);
  }
});

it(title('a text that was damaged is read alike in one part and in many, or refused'), () => {
  for (let nth = 0; nth < 2_000; nth += 1) {
    const text = textOf(5);
    const at = random(text.length);
    const damaged = text.slice(0, at) + pick(['', ',', '"', '{', ']', ':', '\\'], random);
    const all = damaged + text.slice(at + random(3));
    const inParts = outcomeOf(() => parseInParts(all, 3));
    const whole = outcomeOf(() =>
      atOnce(new StrictJson('all', { rounds: true }).parse(Buffer.from(all))),
    );
    expect([all, inParts]).toEqual([all, whole]);
    const parsed = outcomeOf(() => JSON.parse(all));
    if (parsed instanceof Object && 'refused' in parsed) expect(whole).toHaveProperty('refused');
  }
});

it(title('every value counts once, wherever the text is cut'), () => {
  for (let nth = 0; nth < 10; nth += 1) {
    const document = textOf(5);
    const room = 100_000 - 1 - valuesOf(JSON.parse(document));
    const filled = (more: number): string => `[${'0,'.repeat(room + more)}${document}]`;
    expect(parseInParts(filled(0), 5_000)).toHaveLength(room + 1);
    expect(() => parseInParts(filled(1), 5_000)).toThrow('more than 100000 values');
  }
});
