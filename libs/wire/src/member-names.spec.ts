import { fromWire, toWire } from './member-names';

it('an object is written with the names of our JSON, and its values are left alone', () => {
  const shape = { id: 'a', searchIndexes: ['aB'], data: { innerName: 1 }, createdAt: new Date(0) };
  expect(toWire(shape)).toEqual({
    id: 'a',
    search_indexes: ['aB'],
    data: { innerName: 1 },
    created_at: '1970-01-01T00:00:00.000Z',
  });
});

it('an object is read by the names of our JSON alone, null included', () => {
  const names = ['searchIndexes', 'expiresAt', 'data', 'mask'] as const;
  const json = { search_indexes: [1], searchIndexes: [2], data: { a_b: 1 }, expires_at: null };
  expect(fromWire(names, json)).toEqual({
    searchIndexes: [1],
    expiresAt: null,
    data: { a_b: 1 },
  });
  expect(fromWire(names, { searchIndexes: [2] })).toEqual({});
  expect(fromWire(['constructor'], {})).toEqual({});
});
