import { didYouMean, isShowableName, nearestName } from './names';

const members = ['id', 'type', 'name', 'metadata', 'containers', 'expires_at', 'search_indexes'];

describe('the nearest name', () => {
  it.each([
    ['nmae', 'name'],
    ['metdata', 'metadata'],
    ['container', 'containers'],
    ['expiresAt', 'expires_at'],
    ['idd', 'id'],
    ['typ', 'type'],
    ['TYPE', 'type'],
  ])('of %s is %s', (given, nearest) => expect(nearestName(given, members)).toBe(nearest));

  it.each(['', 'x', 'colour', 'priority', 'n'.repeat(41)])('of "%s" is none', (given) =>
    expect(nearestName(given, members)).toBeUndefined(),
  );

  it('is found by a beginning where the ends differ', () => {
    expect(nearestName('lastfour', ['json', 'last4', 'reveal_last'])).toBe('last4');
    expect(nearestName('tokens:read', ['token:use', 'token:read'])).toBe('token:read');
  });

  it('is asked for in words', () => {
    expect(didYouMean('nmae', members)).toBe('; did you mean name?');
    expect(didYouMean('colour', members)).toBe('');
  });
});

it('shows names of the form of our own alone', () => {
  const shown = ['nmae', 'a.b-c_D9', 'x'.repeat(40), 'iso3166', 'key_of_the_application', 'key_id'];
  const hidden = ['', 'x'.repeat(41), 'a b', 'ü', 'a:b', 'a\n', '{{x}}'];
  expect(shown.filter(isShowableName)).toEqual(shown);
  expect(hidden.filter(isShowableName)).toEqual([]);
});

it.each([
  '4242424242424242',
  '4242-4242-4242-4242',
  'card.4242.4242.4242.4242',
  '123-45-6789',
  'n12345',
  `key_${'aB'.repeat(16)}c`,
  `a.key_${'aB'.repeat(11)}`,
  'aB3dEfGhIjKlMnOpQrStUv',
  `whsec_${'ab'.repeat(16)}`,
])('shows no name that may be data or a key: %s', (name) =>
  expect(isShowableName(name)).toBe(false),
);
