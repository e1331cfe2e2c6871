import { waitFor } from '@glovebox/testing';
import { deadlines, type Limited } from './deadlines';

function limited(expire: () => void): Limited {
  return { place: -1, dueAt: 0, expire };
}

describe('deadlines', () => {
  it('expire once each: never when cleared, later when put off', async () => {
    const expired: string[] = [];
    const [early, cleared, late] = ['early', 'cleared', 'late'].map((name) =>
      limited(() => expired.push(name)),
    ) as [Limited, Limited, Limited];
    for (const each of [early, cleared, late]) deadlines.set(each, 5);
    deadlines.clear(cleared);
    deadlines.set(late, 150);
    await waitFor(() => expired.length === 1);
    expect(expired).toEqual(['early']);
    await waitFor(() => expired.length === 2);
    expect(expired).toEqual(['early', 'late']);
    expect([early, cleared, late].map(({ place }) => place)).toEqual([-1, -1, -1]);
  });

  it('may end and begin others when they expire', async () => {
    const expired: number[] = [];
    const all: Limited[] = Array.from({ length: 100 }, (_, nth) =>
      limited(() => {
        expired.push(nth);
        const [other, next] = [all[nth + 1], all[0]];
        if (nth % 2 === 0 && other) deadlines.clear(other);
        if (nth === 2 && next) deadlines.set(next, 5);
      }),
    );
    for (const each of all) deadlines.set(each, 5);
    await waitFor(() => expired.length === 51);
    expect(expired.filter((nth) => nth % 2 === 1)).toEqual([]);
    expect(expired.filter((nth) => nth === 0)).toHaveLength(2);
  });
});
