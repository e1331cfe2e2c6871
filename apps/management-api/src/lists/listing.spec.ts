import { randomUUID } from 'node:crypto';
import type { Pagination } from '@glovebox/database';
import { controllers } from '../app.module';
import { openApiDocument } from '../openapi/document';
import { useTestApi } from '../spec-api';

const api = useTestApi();

const examples: Readonly<Record<string, string>> = {
  id: randomUUID(),
  page: '1',
  size: '1',
  start_date: '2026-01-01T00:00:00Z',
  end_date: '2026-01-01T00:00:00Z',
  from: '2026-01-01T00:00:00Z',
  to: '2026-01-02T00:00:00Z',
  after: randomUUID(),
  resource_id: randomUUID(),
  reactor_id: randomUUID(),
};

/** The lists of one resource are those of a resource that exists. */
const resources = new Map<string, string>();
beforeAll(async () => {
  for (let n = 0; n < 5; n += 1) {
    const code = 'module.exports = () => 1';
    const formula = await api.made('/reactor-formulas', { name: 'f', code });
    const reactor = { name: 'r', configuration: {}, formula: { id: formula.id } };
    resources.set('/reactors', (await api.made('/reactors', reactor)).id);
    const proxy = { name: 'p', destination_url: 'https://a.example' };
    resources.set('/proxies', (await api.made('/proxies', proxy)).id);
    await api.keyWith('public', ['token:create']);
  }
  // Tokens of one moment: their ids alone keep them in order.
  await api.post('/tokenize', ['a', 'b', 'c', 'd', 'e'], api.tenant.private_key);
});
const pathOf = (path: string): string =>
  path.replace(/^(.*)\/\{id\}/, (_, list: string) => `${list}/${resources.get(list)}`);

const cursorOf = (id: string): string => Buffer.from(`1.20.${id}`).toString('base64url');

/** The lists with pages, and their documented filters. */
const lists = Object.entries(openApiDocument(controllers).paths).flatMap(([path, { get }]) => {
  const parameters = (get?.parameters ?? []) as { name: string; in: string; schema: object }[];
  const query = parameters.filter((one) => one.in === 'query');
  if (!query.some(({ name }) => name === 'size')) return [];
  const filters = query.map(({ name, schema }) => {
    const {
      enum: choices,
      items,
      format,
      minimum,
    } = schema as {
      enum?: string[];
      items?: { enum?: string[] };
      format?: string;
      minimum?: number;
    };
    const other = format === 'uuid' ? randomUUID() : String(minimum ?? 'x');
    if (name === 'after' && query.some((one) => one.name === 'page')) {
      return [name, cursorOf(path === '/logs' ? '1' : randomUUID())] as [string, string];
    }
    return [name, examples[name] ?? (choices ?? items?.enum)?.[0] ?? other] as [string, string];
  });
  return [{ path, filters }];
});
const keyFor = (path: string): string =>
  path.startsWith('/tokens') ? api.tenant.private_key : api.tenant.management_key;

it('the documentation names every list', () => {
  expect(lists.map(({ path }) => path).sort()).toEqual([
    '/applications',
    '/calls',
    '/deployments',
    '/logs',
    '/proxies',
    '/proxies/{id}/captures',
    '/proxies/{id}/runs',
    '/reactor-formulas',
    '/reactors',
    '/reactors/{id}/runs',
    '/runs',
    '/sessions',
    '/tokens',
    '/webhook-deliveries',
  ]);
});

describe.each(lists)('GET $path', ({ path, filters }) => {
  it('accepts every documented filter', async () => {
    // A cursor takes the place of a page.
    for (const left of ['page', 'after']) {
      const query = new URLSearchParams(filters.filter(([name]) => name !== left)).toString();
      const answer = await api.get(`${pathOf(path)}?${query}`, keyFor(path));
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
    }
  });

  it.each(['metadata[m]', 'metadata', 'Name', 'filter', '__proto__', ''])(
    'refuses the unknown filter %j with 400 instead of ignoring it',
    async (name) => {
      const query = `${encodeURIComponent(name)}=&size=1`;
      const { status, body } = await api.get(`${pathOf(path)}?${query}`, keyFor(path));
      const { code, errors } = body as { code: string; errors: object };
      expect([status, code, Object.keys(errors)]).toEqual([400, 'validation_failed', [name]]);
    },
  );
});

it.each(lists)('GET $path takes an empty value as no filter', async ({ path, filters }) => {
  const empty = filters.filter(([name]) => !['page', 'size', 'metadata.NAME'].includes(name));
  const query = new URLSearchParams(empty.map(([name]): [string, string] => [name, '']));
  const answer = await api.get(`${pathOf(path)}?${query.toString()}`, keyFor(path));
  const all = await api.get(pathOf(path), keyFor(path));
  expect([answer.status, Object.keys(answer.body as object)]).toEqual([
    200,
    ['pagination', 'data'],
  ]);
  const ids = ({ body }: typeof all) =>
    (body as { data: { id: string }[] }).data.map(({ id }) => id);
  // The logs grow with each call.
  if (!['/logs', '/calls'].includes(path)) expect(ids(answer)).toEqual(ids(all));
});
describe.each(lists.filter(({ filters }) => filters.some(([name]) => name === 'page')))(
  'the pages of GET $path',
  ({ path }) => {
    interface Listed {
      readonly pagination: Pagination;
      readonly data: readonly { readonly id: string }[];
    }
    const listed = async (query: string): Promise<Listed> => {
      const answer = await api.get(`${path}?${query}`, keyFor(path));
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      return answer.body as Listed;
    };

    it('are the same by cursor as by number, and tell where they are', async () => {
      let next = 'page=1';
      for (let page = 1; ; page += 1) {
        const byNumber = await listed(`size=2&page=${page}`);
        const byCursor = await listed(`size=2&${next}`);
        expect(byCursor).toEqual(byNumber);
        const { total_items: total, total_pages: pages, after } = byCursor.pagination;
        expect([byCursor.pagination.page_number, pages]).toEqual([page, Math.ceil(total / 2)]);
        if (after === undefined) {
          expect([page, total]).toEqual([pages, (page - 1) * 2 + byCursor.data.length]);
          expect(page).toBeGreaterThan(2);
          return;
        }
        expect(pages).toBeGreaterThan(page);
        next = `after=${after}`;
      }
    });

    it('refuse a cursor that is none, and one together with a page', async () => {
      const own = cursorOf(path === '/logs' ? '1' : randomUUID());
      const wrong = [
        'x',
        `${own}=`,
        cursorOf('a/b'),
        cursorOf('1\0'),
        Buffer.from('x.0.1').toString('base64url'),
        `${own}&after=${own}`,
        `${own}&page=1`,
      ];
      for (const after of wrong) {
        const { status, body } = await api.get(`${path}?after=${after}`, keyFor(path));
        const { errors } = body as { errors: object };
        expect([after, status, Object.keys(errors)]).toEqual([after, 400, ['after']]);
      }
    });
  },
);

it('an error names at most 20 unknown filters, and at most 64 characters of each', async () => {
  const query = Array.from({ length: 100 }, (_, n) => `${n}${'_x'.repeat(50)}=1`).join('&');
  const { body } = await api.get(`/reactors?${query}`);
  const names = Object.keys((body as { errors: object }).errors);
  expect([names.length, Math.max(...names.map(({ length }) => length))]).toEqual([20, 64]);
});

it('an error names no unknown filter that may be data', async () => {
  const { text, body } = await api.get('/reactors?4242424242424242=1&nmae=2');
  expect(text).not.toContain('4242');
  expect((body as { errors: object }).errors).toEqual({
    query: ['has a parameter that is no filter of this list'],
    nmae: ['is not a filter of this list; did you mean name?'],
  });
});
