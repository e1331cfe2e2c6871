import { randomUUID } from 'node:crypto';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from './spec-api';

const api = useTestApi();

type Resource = Record<string, unknown> & { id: string };

const made = async (path: string, body: object): Promise<string> => (await api.made(path, body)).id;

const formula = (): Promise<string> =>
  made('/reactor-formulas', { name: 'F', code: 'module.exports = () => ({})' });

const families = [
  {
    kind: 'reactor',
    family: '/reactors',
    /** Makes a formula for each reactor, so that a list reads as many formulas. */
    input: async () => ({ name: 'R', configuration: {}, formula: { id: await formula() } }),
  },
  {
    kind: 'proxy',
    family: '/proxies',
    input: () => Promise.resolve({ name: 'P', destination_url: 'https://example.com' }),
  },
] as const;

describe.each(families)('$family', ({ kind, family, input }) => {
  const read = async (id: string): Promise<Resource> =>
    (await api.get(`${family}/${id}`)).body as Resource;
  const create = async (members: object = {}): Promise<Resource> =>
    read(await made(family, { ...(await input()), ...members }));
  const inForce = (id: string) => api.inForce(kind, id);

  it('answers PUT with 401, 403, 415 and 404', async () => {
    const path = `${family}/${(await create()).id}`;
    const body = await input();
    expect((await api.put(path, body, 'nobody')).status).toBe(401);
    expect((await api.put(path, body, api.tenant.private_key)).status).toBe(403);
    expect((await api.put(path, body).set('Content-Type', 'text/plain')).status).toBe(415);
    expect((await api.put(path, body, api.foreign.management_key)).status).toBe(404);
    expect((await api.put(`${family}/${randomUUID()}`, body)).status).toBe(404);
  });

  it('answers PATCH with 401, 403, 415 and 404', async () => {
    const path = `${family}/${(await create()).id}`;
    expect((await api.patch(path, {}, 'nobody')).status).toBe(401);
    expect((await api.patch(path, {}, api.tenant.private_key)).status).toBe(403);
    expect((await api.patch(path, {}).set('Content-Type', 'application/json')).status).toBe(415);
    expect((await api.patch(path, {}, api.foreign.management_key)).status).toBe(404);
    expect((await api.patch(`${family}/${randomUUID()}`, {})).status).toBe(404);
  });

  it('answers PATCH of {} with 204 and changes nothing, not even the time of the last change', async () => {
    const before = await create();
    const answer = await api.patch(`${family}/${before.id}`, {});
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await read(before.id)).toEqual(before);
  });

  it('answers DELETE with 401, 403 and 404', async () => {
    const path = `${family}/${(await create()).id}`;
    expect((await api.delete(path, 'nobody')).status).toBe(401);
    expect((await api.delete(path, api.tenant.private_key)).status).toBe(403);
    expect((await api.delete(path, api.foreign.management_key)).status).toBe(404);
    expect((await api.delete(`${family}/nope`)).status).toBe(404);
    expect((await api.get(path)).status).toBe(200);
  });

  it('answers DELETE with 204, then 404, and the data plane no longer knows it', async () => {
    const { id } = await create();
    expect(inForce(id)).toBeDefined();
    const gone = await api.delete(`${family}/${id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect(inForce(id)).toBeUndefined();
    expect((await api.delete(`${family}/${id}`)).status).toBe(404);
    expect((await api.get(`${family}/${id}`)).status).toBe(404);
  });

  it('writes one audit line per change, and none if nothing changes', async () => {
    const body = await input();
    const id = await made(family, body);
    const path = `${family}/${id}`;
    expect((await api.put(path, body)).status).toBe(200);
    expect((await api.patch(path, { name: 'New' })).status).toBe(204);
    expect((await api.patch(path, {})).status).toBe(204);
    expect((await api.patch(path, { name: null })).status).toBe(400);
    expect((await api.delete(path)).status).toBe(204);
    const { data } = (await api.get(`/logs?entity_id=${id}`)).body as {
      data: { operation: string }[];
    };
    const actions = ['delete', 'update', 'update', 'create'];
    expect(data.map(({ operation }) => operation)).toEqual(actions.map((did) => `${kind}.${did}`));
  });

  it('keeps a deleted application attached until a document names another one or none', async () => {
    const application = { name: 'A', type: 'public', permissions: ['token:create'] };
    const gone = await made('/applications', application);
    const naming = { application: { id: gone } };
    const body = { ...(await input()), ...naming };
    const id = await made(family, body);
    const path = `${family}/${id}`;
    expect((await api.delete(`/applications/${gone}?force=true`)).status).toBe(204);

    expect((await api.patch(path, { name: 'Still there' })).status).toBe(204);
    expect((await api.patch(path, naming)).status).toBe(204);
    const put = await api.put(path, (await api.get(path)).body);
    expect([put.status, put.body]).toMatchObject([200, { application_id: gone }]);
    expect(inForce(id)).toMatchObject({ applicationId: gone });
    const must = 'must be a public or private application of the tenant';
    const refused = await api.post(family, body);
    expect(refused.body).toMatchObject({ status: 400, errors: { 'application.id': [must] } });
    expect((await api.patch(path, { application: null })).status).toBe(204);
    expect(inForce(id)).toMatchObject({ applicationId: null });
  });

  describe('GET', () => {
    const marker = randomUUID();
    const all: Resource[] = [];
    beforeAll(async () => {
      for (const name of ['Alpha', 'beta', 'Gamma']) {
        all.unshift(await create({ name: `${marker} ${name}` }));
      }
    });
    const list = async (query: string, key = api.tenant.management_key) => {
      const answer = await api.get(`${family}${query}`, key);
      expect(answer.status).toBe(200);
      return answer.body as { pagination: Record<string, number>; data: Resource[] };
    };

    it('answers 200 with pages, newest first, each entry as its own GET shows it', async () => {
      const { pagination, data } = await list(`?name=${marker}*&size=2`);
      const expected = { total_items: 3, page_number: 1, page_size: 2, total_pages: 2 };
      expect(pagination).toMatchObject(expected);
      const { data: rest } = await list(`?name=${marker}*&size=2&page=2`);
      expect([...data, ...rest]).toEqual(all);
      expect((await list(`?name=${marker}*&page=9`)).data).toEqual([]);
    });

    it('filters by ids and by name', async () => {
      const [gamma, beta] = all;
      expect((await list(`?name=${marker} BE*`)).data).toEqual([beta]);
      expect((await list(`?name=${marker} BE`)).data).toEqual([]);
      const ids = [gamma?.id.toUpperCase(), beta?.id, randomUUID()];
      expect((await list(`?id=${ids.join('&id=')}`)).data).toEqual([gamma, beta]);
    });

    it('takes as many statements for a long page as for a short one', async () => {
      const statements = jest.spyOn(api.ctx.dataSource.logger, 'logQuery');
      // The log of calls is written once a second.
      const ofList = () =>
        statements.mock.calls
          .map(([statement]) => statement)
          .filter((statement) => !/INTO (calls|call_summary)\b/.test(statement));
      const counts: number[] = [];
      for (const size of [1, 2]) {
        statements.mockClear();
        expect((await list(`?name=${marker}*&size=${size}`)).data).toHaveLength(size);
        // The page is answered before its transaction ends.
        await waitFor(() => ofList().at(-1) === 'COMMIT');
        counts.push(ofList().length);
      }
      statements.mockRestore();
      expect(counts[0]).toBeGreaterThan(2);
      expect(counts[1]).toBe(counts[0]);
    });

    it('never shows those of another tenant', async () => {
      const foreign = await list(`?id=${all[0]?.id}`, api.foreign.management_key);
      expect(foreign.data).toEqual([]);
    });

    it('answers 400, 401 and 403', async () => {
      for (const query of ['?page=0', '?size=101', '?id=nope', '?name=%00']) {
        expect((await api.get(`${family}${query}`)).status).toBe(400);
      }
      expect((await api.get(family, 'nobody')).status).toBe(401);
      expect((await api.get(family, api.tenant.private_key)).status).toBe(403);
    });
  });
});
