import { bytes, cutMiddle, milliseconds, plural, relativeTime, share } from './format';

it('numbers have the right plural', () => {
  expect([0, 1, 2, 12_345].map((n) => plural(n, 'call'))).toEqual([
    '0 calls',
    '1 call',
    '2 calls',
    '12,345 calls',
  ]);
  expect(plural(3, 'delivery', 'deliveries')).toBe('3 deliveries');
});

it('durations and sizes are told in units that can be read', () => {
  expect([undefined, 0.4, 12.4, 1080, 12_340, 61_000].map(milliseconds)).toEqual([
    '–',
    '< 1 ms',
    '12 ms',
    '1.08 s',
    '12.3 s',
    '1 min 1 s',
  ]);
  expect([undefined, 1, 1023, 2048, 3 * 1024 * 1024].map(bytes)).toEqual([
    '–',
    '1 byte',
    '1,023 bytes',
    '2.0 KiB',
    '3.0 MiB',
  ]);
});

it('a share never looks like none where there are some', () => {
  expect([share(0, 10), share(1, 100_000), share(1, 8), share(8, 8)]).toEqual([
    '0 %',
    '< 0.1 %',
    '13 %',
    '100 %',
  ]);
});

it('long ids are cut in the middle, and short ones not', () => {
  expect(cutMiddle('01a2131d-f9fd-721e-ae18-e7e617b797bf')).toBe('01a2131d…b797bf');
  expect(cutMiddle('order-12')).toBe('order-12');
});

it('times are told from now, backwards and forwards', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  expect(relativeTime('2026-01-31T11:57:00Z', now)).toBe('3 minutes ago');
  expect(relativeTime('2026-01-31T12:00:00Z', now)).toBe('now');
  expect(relativeTime('2026-02-01T12:00:00Z', now)).toBe('in 1 day');
});
