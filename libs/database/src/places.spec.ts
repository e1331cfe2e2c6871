import { randomUUID } from 'node:crypto';
import { Places, type Part } from './places';

const length = 420_000;
const entries = Array.from({ length }, (_, n) => ({ id: String(n), at: new Date(n) }));
const limit = 20;

/** A list that remembers which parts were read. */
function listed(tenantId = randomUUID(), asked: unknown = {}) {
  const parts: Part[] = [];
  const gone = new Set<string>();
  const find = (part: Part) => {
    parts.push(part);
    const behind = part.after ? entries.slice(Number(part.after.id) + 1) : entries;
    const list = gone.size > 0 ? behind.filter(({ id }) => !gone.has(id)) : behind;
    return Promise.resolve(list.slice(part.skipped, part.skipped + part.limit));
  };
  return { list: { tenantId, asked }, parts, gone, find };
}

const readBy = (parts: readonly Part[]): number[] => parts.map(({ skipped }) => skipped);
const idsFrom = (first: number) => entries.slice(first, first + limit).map(({ id }) => id);

it('finds each page behind any number of entries, and reads 50,000 before it at most', async () => {
  const places = new Places();
  const { list, find, parts } = listed();
  for (const before of [0, 49_999, 50_000, 399_999, 123_456, 250_000, 419_990]) {
    const found = await places.find(list, before, limit, find);
    expect(found.map(({ id }) => id)).toEqual(idsFrom(before));
  }
  expect(Math.max(...readBy(parts))).toBeLessThan(50_000);
  // Seven strides to the page behind 399,999, one more to the last, and each page.
  expect(parts).toHaveLength(8 + 7);
});

it('finds nothing behind the end, and walks there once', async () => {
  const places = new Places();
  const { list, find, parts } = listed();
  expect(await places.find(list, Number.MAX_SAFE_INTEGER, limit, find)).toEqual([]);
  expect(parts).toHaveLength(9);
  expect(await places.find(list, length, limit, find)).toEqual([]);
  expect(await places.find(list, Number.MAX_SAFE_INTEGER, limit, find)).toEqual([]);
  expect(parts).toHaveLength(11);
});

it('leaves out no entry of a walk by pages while entries before the last place are deleted', async () => {
  const places = new Places();
  const { list, find, gone } = listed();
  const seen: string[] = [];
  for (let before = 149_900; before < 150_100; before += limit) {
    seen.push(...(await places.find(list, before, limit, find)).map(({ id }) => id));
    gone.add(String(before - 149_900));
  }
  expect(new Set(seen)).toEqual(new Set(entries.slice(149_900, 150_100).map(({ id }) => id)));
});

it('keeps the places of a list for a minute, and those of four lists of a tenant', async () => {
  jest.useFakeTimers();
  try {
    const places = new Places();
    const tenantId = randomUUID();
    const [first, ...others] = Array.from({ length: 5 }, (_, n) => listed(tenantId, n));
    const foreign = listed();
    const stepsOf = async ({ list, find, parts }: ReturnType<typeof listed>): Promise<number> => {
      const known = parts.length;
      await places.find(list, 100_000, limit, find);
      return parts.length - known;
    };
    if (!first) throw new Error('no list');
    expect([await stepsOf(foreign), await stepsOf(first), await stepsOf(first)]).toEqual([3, 3, 1]);
    for (const other of others) expect(await stepsOf(other)).toBe(3);
    expect([await stepsOf(foreign), await stepsOf(first)]).toEqual([1, 3]);
    jest.advanceTimersByTime(60_000);
    expect(await stepsOf(foreign)).toBe(3);
  } finally {
    jest.useRealTimers();
  }
});

it('gives up a walk after 10 s, and goes on from there when it is asked again', async () => {
  jest.useFakeTimers();
  try {
    const places = new Places();
    const { list, find, parts } = listed();
    const slow = (part: Part) => {
      jest.advanceTimersByTime(3_000);
      return find(part);
    };
    await expect(places.find(list, 400_000, limit, slow)).rejects.toMatchObject({
      code: 'service_unavailable',
      detail: expect.stringContaining('`after`') as string,
    });
    expect(parts).toHaveLength(4);
    const found = await places.find(list, 400_000, limit, slow);
    expect(found.map(({ id }) => id)).toEqual(idsFrom(400_000));
    expect(parts).toHaveLength(9);
  } finally {
    jest.useRealTimers();
  }
});
