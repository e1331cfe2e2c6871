import { randomUUID } from 'node:crypto';
import { lowestIdAt, timeOfId, timeOrderedId } from './time-ordered-id';

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('an id is a UUID of version 7 that names its millisecond', () => {
  const now = Date.UTC(2026, 0, 31, 12, 0, 0, 123);
  const id = timeOrderedId(now);
  expect(id).toMatch(uuidV7);
  expect(timeOfId(id)).toBe(now);
  expect(timeOfId(randomUUID())).toBeUndefined();
});

it('ids are in the order of their milliseconds, and no two are equal', () => {
  const ids = Array.from({ length: 10_000 }, (_, ms) => timeOrderedId(1_769_000_000_000 + ms));
  expect([...ids].sort()).toEqual(ids);
  const ofOneMoment = Array.from({ length: 10_000 }, () => timeOrderedId(1));
  expect(new Set(ofOneMoment).size).toBe(10_000);
  for (const id of ofOneMoment) expect(id).toMatch(uuidV7);
});

it('the lowest id of a moment is below all ids of that moment and above those before', () => {
  const now = Date.now();
  expect(lowestIdAt(now) < timeOrderedId(now)).toBe(true);
  expect(lowestIdAt(now) > timeOrderedId(now - 1)).toBe(true);
  expect(lowestIdAt(-1)).toBe('00000000-0000-0000-0000-000000000000');
});
