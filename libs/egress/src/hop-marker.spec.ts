import { hasBeenHere, hopMarkerOf } from './hop-marker';

const marker = hopMarkerOf(() => 'A-very_long-hash-of-43-characters-in-base64');

describe('the marker of an installation', () => {
  it('is a name of RFC 8586 that holds no more than a part of the hash', () => {
    expect(marker).toBe('glovebox-A-very_long-hash');
    expect(marker).toMatch(/^[\w!#$%&'*+.^`|~-]+$/);
  });

  it.each([marker, `other, ${marker}`, `${marker},other`, `other ,\t${marker} ;why=not, third`])(
    'is found in %j',
    (list) => {
      expect(hasBeenHere(list, marker)).toBe(true);
    },
  );

  it.each([undefined, '', 'other', `${marker}2`, `x${marker}`, `other;by=${marker}`])(
    'is not found in %j',
    (list) => {
      expect(hasBeenHere(list, marker)).toBe(false);
    },
  );
});
