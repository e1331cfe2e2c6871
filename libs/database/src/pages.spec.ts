import { randomUUID } from 'node:crypto';
import { findPage, readCursor, type Count, type PageQuery, type Part } from './index';

/** A list of so many entries, the newest first, three of each moment. */
const listOf = (length: number) =>
  Array.from({ length }, (_, n) => ({ id: `id${n}`, at: new Date(9_000 - Math.floor(n / 3)) }));

const partOf = (list: ReturnType<typeof listOf>, { after, skipped, limit }: Part) => {
  const first = after ? list.findIndex(({ id }) => id === after.id) + 1 : 0;
  return list.slice(first + skipped, first + skipped + limit);
};

const aList = () => ({ tenantId: randomUUID(), asked: 'all' });

/** Pages of a list that is counted like that. */
function pagesOf(length: number, count: Count) {
  const list = listOf(length);
  return (query: PageQuery) =>
    findPage(query, {
      list: aList(),
      find: (part) => Promise.resolve(partOf(list, part)),
      count: () => Promise.resolve(count),
    });
}

it.each<[string, Count]>([
  ['exact', { items: 25, isEstimate: false }],
  ['too low', { items: 1, isEstimate: true }],
  ['too high', { items: 900, isEstimate: true }],
])(
  'with a count that is %s, each page but the last tells of another one, and the last is exact',
  async (_, count) => {
    const pages = pagesOf(25, count);
    const seen: string[] = [];
    for (let query: PageQuery = { page: 1, size: 10 }, page = 1; ; page += 1) {
      const { entries, pagination } = await pages(query);
      expect(await pages({ page, size: 10 })).toEqual({ entries, pagination });
      expect(pagination).toMatchObject({ page_number: page, page_size: 10 });
      seen.push(...entries.map(({ id }) => id));
      const { after } = pagination;
      if (after === undefined) {
        expect(pagination).toEqual({
          total_items: 25,
          page_number: 3,
          page_size: 10,
          total_pages: 3,
        });
        break;
      }
      expect(pagination.total_pages).toBeGreaterThan(page);
      expect(pagination.total_items_is_estimate).toBe(count.isEstimate || undefined);
      const errors = {};
      query = {
        page: 1,
        size: 10,
        after: readCursor({ after }, (id) => /^id\d+$/.test(id), errors),
      };
      expect(errors).toEqual({});
    }
    expect(seen).toEqual(listOf(25).map(({ id }) => id));
    const past = await pages({ page: 4, size: 10 });
    expect([past.entries, past.pagination.total_items]).toEqual([[], Math.min(count.items, 30)]);
  },
);

it('a list that fits its page is not counted', async () => {
  const find = () => Promise.resolve(listOf(20));
  const count = () => Promise.reject(new Error('counted'));
  const { pagination } = await findPage({ page: 1, size: 20 }, { list: aList(), find, count });
  expect(pagination.total_items).toBe(20);
});
