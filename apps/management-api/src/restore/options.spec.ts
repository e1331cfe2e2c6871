import { randomUUID } from 'node:crypto';
import { parseRestore } from './options';

it.each([
  [['--release', '--fail'], 'cannot be combined'],
  [['--tenant', randomUUID()], '--tenant goes with'],
  [['--release', '--tenant', 'x'], '--tenant must be an id'],
  [['--older-than', '1h'], '--older-than goes with'],
  [['--release', '--older-than', '1w'], '--older-than reads'],
  [['--end-keys'], '--end-keys needs --tenant ID'],
  [['--status', '--force'], '--force goes with'],
  [['--everything'], 'Unknown option'],
])('the options %j are refused', (args, reason) => {
  expect(() => parseRestore(args)).toThrow(reason);
});

it('an age is read in seconds, minutes, hours and days', () => {
  const ages = ['90s', '30m', '6h', '2d'];
  expect(ages.map((age) => parseRestore(['--release', '--older-than', age]).olderThanMs)).toEqual([
    90_000, 1_800_000, 21_600_000, 172_800_000,
  ]);
});
