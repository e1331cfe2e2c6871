import { randomFrom, testSeed } from '@glovebox/testing';
import { parse } from '../spec-parse';
import { makeCase } from './answers';
import { checkCases } from './check';

it('2,000,000 mutated answers in parts are read like llhttp reads them, or refused', async () => {
  const { accepted } = await checkCases(testSeed(), 2_000_000);
  expect(accepted).toBeGreaterThan(400_000);
}, 3_600_000);

it('100,000,000 bytes of answers are the same wherever the reads end', () => {
  const seed = testSeed();
  const random = randomFrom(seed);
  for (let bytes = 0, n = 0; bytes < 100_000_000; n += 1) {
    const { method, isUpgrade, text } = makeCase(random);
    const asked = { isHead: method === 'HEAD', isUpgrade, closes: true };
    const whole = outcome(text, asked);
    for (let at = 1; at < text.length; at += 1) {
      bytes += text.length;
      const split = outcome(text, { ...asked, sizes: [at, Infinity] });
      if (split !== whole)
        throw new Error(`seed ${seed}, case ${n}, at ${at}: ${split} not ${whole}`);
    }
  }
}, 600_000);

function outcome(...answer: Parameters<typeof parse>): string {
  const { read, recorder, keeps, keepMs, left } = parse(...answer);
  if (read === 'invalid' || read === 'more') return read;
  const { status, headers, body, trailers, informationals } = recorder;
  return JSON.stringify([
    read,
    status,
    headers,
    body,
    trailers,
    informationals,
    keeps,
    keepMs,
    left,
  ]);
}
