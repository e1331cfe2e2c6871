import { mayShip, shippedPackages } from './licences.mjs';

it('every shipped package has a licence that lets it be shipped', () => {
  const shipped = shippedPackages();
  expect(shipped.length).toBeGreaterThan(150);
  expect(new Set(shipped.map(({ part }) => part)).size).toBe(6);
  expect(shipped.filter(({ licence }) => !mayShip(licence))).toEqual([]);
});

it.each([
  ['MIT', true],
  ['(BSD-3-Clause OR GPL-2.0)', true],
  ['MIT AND Apache-2.0', true],
  ['MIT AND GPL-2.0', false],
  ['GPL-3.0-only', false],
  ['AGPL-3.0 OR SSPL-1.0', false],
  ['UNLICENSED', false],
  [undefined, false],
])('a package of the licence %s may be shipped: %s', (licence, expected) => {
  expect(mayShip(licence)).toBe(expected);
});
