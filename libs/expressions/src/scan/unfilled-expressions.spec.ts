import { Readable } from 'node:stream';
import { randomFrom, testSeed } from '@glovebox/testing';
import { refuseUnfilledStream } from '../index';

const uuid = '2C9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a';
const seed = testSeed();
const random = randomFrom(seed);

/** Passes the chunks on; returns what passed, or the detail of the refusal. */
async function passed(chunks: readonly Buffer[], bytesMax = 1_000_000): Promise<string> {
  const parts: Buffer[] = [];
  try {
    const source = Readable.from(chunks) as AsyncIterable<Buffer>;
    for await (const part of refuseUnfilledStream(source, bytesMax)) parts.push(part);
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return Buffer.concat(parts).toString('latin1');
}

const refusalAt = (place: number): string =>
  `The expression at character ${place} stands in a body in which none is replaced, because its media type is no text.`;

describe('a stream in which no expression is replaced', () => {
  it.each([
    `{{${uuid}}}`,
    `\xff{{ \t\r\n${uuid} \n}}`,
    `{{{${uuid}}}`,
    `{{ {{${uuid}}}`,
    `{{${uuid.slice(0, 20)}{{${uuid}}}`,
    `{{${uuid}}{{${uuid}}}`,
    `{{ ${uuid} | json: '$.number' }}`,
  ])('is refused at the expression of %j, wherever its parts begin', async (text) => {
    const bytes = Buffer.from(text, 'latin1');
    const whole = await passed([bytes]);
    expect(whole).toBe(refusalAt(text.lastIndexOf('{{')));
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await passed([bytes.subarray(0, at), bytes.subarray(at)])).toBe(whole);
    }
    expect(await passed(Array.from(bytes, (byte) => Buffer.from([byte])))).toBe(whole);
  });

  it(`is refused exactly where a pattern says so (TEST_SEED=${seed})`, async () => {
    const pattern = /\{\{[ \n]*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[ \n]*(?:\||\}\})/i;
    const pieces = [
      '{',
      '{{',
      '{{',
      ' ',
      uuid,
      uuid,
      uuid.slice(1),
      '-',
      '}',
      '}}',
      '|',
      'x',
      '\n',
    ];
    for (let round = 0; round < 3_000; round += 1) {
      const text = Array.from({ length: 1 + random(12) }, () => pieces[random(pieces.length)]).join(
        '',
      );
      const found = pattern.exec(text);
      const cut = random(text.length + 1);
      const outcome = await passed(
        [text.slice(0, cut), text.slice(cut)].map((one) => Buffer.from(one)),
      );
      const wanted = found ? refusalAt(found.index) : text;
      if (outcome !== wanted) throw new Error(`${text} gave ${outcome}`);
    }
  });

  it('is looked at up to its limit and no further', async () => {
    const text = `xx{{${uuid}}}`;
    const chunks = [Buffer.from(text.slice(0, 9)), Buffer.from(text.slice(9))];
    expect(await passed(chunks, text.length)).toBe(refusalAt(2));
    expect(await passed(chunks, text.length - 1)).toBe(text);
  });
});
