import { randomBytes, randomUUID } from 'node:crypto';
import { parseKeyRing } from '@glovebox/seal';
import type { LogEntry, LogPart } from './log';
import { isAnswerProven, isComplete, manifestOf, proofOfAnswer } from './relay-proofs';

const key = (): string => randomBytes(32).toString('base64');
const [first, second] = [`1:${key()}`, `2:${key()}`];
const ring = parseKeyRing(first);
const epoch = randomUUID();
const tenantId = randomUUID();
const ids: Readonly<Record<string, string>> = { a: randomUUID(), b: randomUUID() };

/** `a4`: version 4 is that of a. */
const entry = (text: string): LogEntry => ({
  kind: 'reactor',
  id: ids[text[0] ?? ''] ?? '',
  tenantId,
  version: Number(text.slice(1)),
  payload: null,
});

const part = (after: number, upTo: number, entries: string, of = epoch): LogPart => ({
  after,
  upTo,
  head: { epoch: of, version: 9 },
  entries: entries.split(' ').filter(Boolean).map(entry),
});

const manifests = (...parts: LogPart[]): string[] => parts.map((one) => manifestOf(ring, one));
/** Three changes, a by the first and the last of them. */
const chain = manifests(part(1, 2, 'a2'), part(2, 3, 'b3'), part(3, 4, 'a4'));

describe('a part of the log in Redis', () => {
  it.each<[string, LogPart, string[], boolean]>([
    ['with all that its manifests name, the newest of each', part(1, 4, 'b3 a4'), chain, true],
    ['that begins within a manifest', part(2, 4, 'b3 a4'), manifests(part(0, 4, 'b3 a4')), true],
    ['whose entry was written anew behind its end', part(1, 3, 'b3'), chain, true],
    ['with nothing new', part(4, 4, ''), [], true],
    ['without its last entry', part(1, 4, 'b3'), chain, false],
    ['without one in its middle', part(1, 4, 'a4'), chain, false],
    ['with an older entry in place of a newer one', part(1, 4, 'a2 b3'), chain, false],
    ['with a gap between its manifests', part(1, 4, 'a4'), [chain[0], chain[2]] as string[], false],
    ['beyond its manifests', part(1, 5, 'b3 a4'), chain, false],
    ['without manifests', part(1, 4, 'b3 a4'), [], false],
    ['of another database', part(1, 4, 'b3 a4', randomUUID()), chain, false],
    [
      'with manifests that say another thing',
      part(1, 4, 'a4'),
      chain.map((text) => text.replaceAll(ids.b ?? '', ids.a ?? '')),
      false,
    ],
    ['with manifests that are none', part(1, 4, ''), ['', '\n', 'x\n{}', '1:\n{}'], false],
  ])('is judged rightly %s', (_, read, signed, expected) => {
    expect(isComplete(ring, read, signed)).toBe(expected);
  });

  it('is proved to a ring that has one key in common with the relay', () => {
    const read = part(1, 4, 'b3 a4');
    const by = (text: string): string[] => [manifestOf(parseKeyRing(text), read)];
    expect(isComplete(ring, read, by(`${first},${second}`))).toBe(true);
    expect(isComplete(parseKeyRing(`${first},${second}`), read, by(second))).toBe(true);
    expect(isComplete(ring, read, by(second))).toBe(false);
  });
});

it('an answer to a ticket is proved for that ticket, follower and head alone', () => {
  const answer = { head: { epoch, version: 4 }, follower: 'f', ticket: 7 };
  const proof = proofOfAnswer(ring, answer);
  expect(isAnswerProven(ring, answer, proof)).toBe(true);
  for (const other of [{ ticket: 8 }, { follower: 'g' }, { head: { epoch, version: 5 } }]) {
    expect(isAnswerProven(ring, { ...answer, ...other }, proof)).toBe(false);
  }
  expect(isAnswerProven(ring, answer, '')).toBe(false);
});
