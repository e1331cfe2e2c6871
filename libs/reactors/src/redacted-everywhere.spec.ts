import { randomBytes } from 'node:crypto';
import type { Problem } from '@glovebox/problems';
import type { RunRecord } from '@glovebox/runs';
import { waitFor } from '@glovebox/testing';
import { SpecInvocations } from './spec-invocations';

let spec: SpecInvocations;
beforeAll(async () => {
  spec = await SpecInvocations.open();
});
afterAll(() => spec.close());

const forms: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  hex: (text) => Buffer.from(text).toString('hex'),
  base64: (text) => Buffer.from(text).toString('base64'),
  percent: (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&'),
  'JSON-escaped': (text) => Buffer.from(text).toString('hex').replace(/../g, '\\u00$&'),
  'split over two lines': (text) =>
    `${text.slice(0, text.length / 2)}\n${text.slice(text.length / 2)}`,
};

const places: Readonly<Record<string, string>> = {
  'a text of console': 'console.log(text)',
  'an object of console': 'console.log({ text })',
  'lines of console': `for (const line of text.split('\\n')) console.log(line)`,
  'what util.inspect makes': `console.log(require('util').inspect([text]))`,
  'a stack': 'console.log(new Error(text).stack)',
  'a thrown message': 'throw new Error(text)',
  'an error answer': 'throw new BadRequestError({ [text]: [text] })',
  'a thrown body': 'throw new CustomHttpResponseError({ status: 400, body: { text } })',
};

const code = `
const { BadRequestError, CustomHttpResponseError } = require('@svc/reactor-errors');
const forms = {${Object.entries(forms).map(([name, form]) => `${JSON.stringify(name)}: ${String(form)}`)}};
const places = {${Object.entries(places).map(([name, place]) => `${JSON.stringify(name)}(text) { ${place} }`)}};
const chosen = (all, args) => Object.keys(all).find((name) => args[name]);
module.exports = ({ args }) => {
  const secret = args.value ? args.data : Object.keys(args.data)[0];
  places[chosen(places, args)]('said ' + forms[chosen(forms, args)](secret) + ' end');
};`;

/** All that is shown of a run: its record, its lines, and the error that its caller gets. */
async function shownBy(args: Record<string, unknown>): Promise<string[]> {
  const records: RunRecord[] = [];
  const errors: Problem[] = [];
  await spec
    .run(code, { args, record: (made) => void records.push(made) })
    .catch((problem: Problem) => errors.push(problem));
  const record = await waitFor(() => {
    if (records[0] === undefined) throw new Error('no record');
    return records[0];
  });
  const bodies = errors.map((problem) => problem.body());
  const texts = bodies.flatMap(({ errors: lists = {} }) => Object.entries(lists).flat(2));
  return [...record.lines.map(({ text }) => text), ...texts, ...record.argumentNames];
}

/** A part of the written secret that is shown, or all of it if it is short. */
function leak(shown: readonly string[], written: string): string | undefined {
  const text = shown.join('\n').replaceAll('[redacted]', '');
  const length = Math.min(12, written.length);
  for (let at = 0; at + length <= text.length; at += 1) {
    const part = text.slice(at, at + length);
    if (written.includes(part)) return part;
  }
  return undefined;
}

/** The data of a token has up to 1 MiB as JSON. */
const mebibyte = 1024 * 1024 - '{"":true}'.length;
/** From 10,000 characters on, all is searched in one way: the shortest and the longest form will do. */
const formsOfLongest = ['raw', 'JSON-escaped'];
const formsOf = (length: number) =>
  Object.entries(forms).filter(([form]) => length < mebibyte || formsOfLongest.includes(form));
const cases = [3, 4, 16, 9_999, 10_001, mebibyte].flatMap((length) => [
  { kind: 'value', length, redacted: length < 4 ? 'as it is only' : 'in every form' },
  { kind: 'name', length, redacted: length < 7 ? 'nowhere' : 'in every form' },
]);

it.each(cases)(
  'a $kind of $length characters in the data of a token is redacted $redacted, wherever code writes it',
  async ({ kind, length, redacted }) => {
    // Not by chance a part of a word that is shown, nor an `n`: printed, a line break in front of its
    // last two characters is an `n` before them too.
    const secret = `Z${randomBytes(length).toString('base64url')}`.slice(0, length);
    const data = kind === 'value' ? secret : { [secret]: true };
    // Booleans are no secrets.
    const args = { data: `{{ ${await spec.storeToken(data)} }}`, [kind]: true };
    for (const [form, write] of formsOf(length)) {
      const written = write(secret);
      const isHidden = redacted === 'in every form' || (redacted !== 'nowhere' && form === 'raw');
      for (const place of Object.keys(places)) {
        const shown = await shownBy({ ...args, [form]: true, [place]: true });
        // A body of an error that is too large is not shown at all.
        const isShown = shown.some((text) => text.includes('said'));
        expect({
          ...{ form, place },
          leaked: isHidden ? leak(shown, written) : undefined,
          isRedacted: shown.some((text) => text.includes('[redacted]')),
        }).toEqual({ form, place, leaked: undefined, isRedacted: isHidden && isShown });
      }
    }
  },
);
