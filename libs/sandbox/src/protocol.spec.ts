import { agreedVersion, helloOf, spokenBy } from './protocol';

describe('the version of the protocol', () => {
  it('is the newest that both sides speak', () => {
    const now = { lowest: 2, highest: 3 };
    expect(agreedVersion(now, { lowest: 1, highest: 2 })).toBe(2);
    expect(agreedVersion(now, { lowest: 3, highest: 4 })).toBe(3);
    expect(agreedVersion(now, now)).toBe(3);
  });

  it('does not exist between releases that are too far apart', () => {
    expect(agreedVersion({ lowest: 4, highest: 5 }, { lowest: 2, highest: 3 })).toBeUndefined();
    expect(agreedVersion({ lowest: 2, highest: 3 }, { lowest: 4, highest: 5 })).toBeUndefined();
  });

  it('is named in HELLO by its range, and by the one number that 0.1.0 reads', () => {
    const hello = helloOf({ lowest: 2, highest: 3 });
    expect(hello).toMatchObject({ version: 2 });
    expect(spokenBy(hello)).toEqual({ lowest: 2, highest: 3 });
    expect(spokenBy({ version: 2 })).toEqual({ lowest: 2, highest: 2 });
  });

  it.each([{}, { version: '2' }, { lowest: 3, highest: 2 }, { lowest: 2 }, { version: 0 }])(
    'is unknown of a HELLO that says %j',
    (head) => {
      expect(spokenBy(head)).toBeUndefined();
    },
  );
});
