import type { Problem } from '@glovebox/problems';
import { Backlogs } from './backlogs';

function refusal(work: () => unknown): Pick<Problem, 'code' | 'retryAfterSeconds'> | undefined {
  try {
    work();
    return undefined;
  } catch (thrown) {
    const { code, retryAfterSeconds } = thrown as Problem;
    return { code, retryAfterSeconds };
  }
}

it('a caller may make the calls of a minute at once, and then one for each that is worked off', () => {
  const backlogs = new Backlogs(60, 10);
  for (let call = 0; call < 60; call += 1) backlogs.count('a', 1_000);
  expect(refusal(() => backlogs.count('a', 1_000))).toEqual({
    code: 'rate_limited',
    retryAfterSeconds: 1,
  });
  backlogs.count('a', 2_000);
  expect(refusal(() => backlogs.count('a', 2_100))).toBeDefined();
  expect(refusal(() => backlogs.count('b', 2_100))).toBeUndefined();
});

it('calls of other processes count as soon as they are known, and what was too much is worked off', () => {
  const backlogs = new Backlogs(60, 10);
  const backlog = backlogs.count('a', 0);
  expect(backlogs.takeFresh(backlog)).toBe(1_000);
  // One more call while Redis is asked: three gateways have let 60 through at once.
  backlogs.count('a', 0);
  backlogs.learn(backlog, 180_000, 0);
  expect(refusal(() => backlogs.count('a', 0))).toMatchObject({ retryAfterSeconds: 122 });
  expect(refusal(() => backlogs.count('a', 121_000))).toBeDefined();
  expect(refusal(() => backlogs.count('a', 122_000))).toBeUndefined();
});

it('a Redis that forgot everything frees nobody', () => {
  const backlogs = new Backlogs(60, 10);
  for (let call = 0; call < 59; call += 1) backlogs.count('a', 0);
  const backlog = backlogs.count('a', 0);
  backlogs.takeFresh(backlog);
  backlogs.learn(backlog, 1_000, 0);
  expect(refusal(() => backlogs.count('a', 0))).toBeDefined();
});

it('a million callers take the room of a bounded number, and one that keeps calling stays known', () => {
  const backlogs = new Backlogs(60, 1_000);
  for (let call = 0; call < 60; call += 1) backlogs.count('busy', 0);
  for (let client = 0; client < 1_000_000; client += 1) {
    backlogs.count(`client ${client}`, 0);
    if (client % 100 === 0) expect(refusal(() => backlogs.count('busy', 0))).toBeDefined();
  }
  expect(backlogs.size).toBeLessThanOrEqual(1_000);
});
