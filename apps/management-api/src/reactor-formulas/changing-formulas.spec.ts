import { randomUUID } from 'node:crypto';
import { useTestApi } from '../spec-api';

const api = useTestApi();

type Formula = Record<string, unknown> & { id: string };

const full = {
  name: 'Formula',
  description: 'what it does',
  icon: 'data:,',
  code: 'module.exports = () => ({})',
  configuration: [{ name: 'KEY', type: 'string' }],
  request_parameters: [{ name: 'a.b', type: 'number', optional: true }],
  runtime: 'node20',
};

const formula = (input: object = full): Promise<Formula> =>
  api.made<Formula>('/reactor-formulas', input);

const read = async (id: string): Promise<Formula> =>
  (await api.get(`/reactor-formulas/${id}`)).body as Formula;

describe('PUT /reactor-formulas/{id}', () => {
  it('replaces all, and resets omitted members to their defaults', async () => {
    const { id, created_at, created_by } = await formula();
    const put = await api.put(`/reactor-formulas/${id}`, { name: 'New', code: full.code });
    expect(put.status).toBe(200);
    expect(put.body).toEqual({
      id,
      tenant_id: api.tenant.tenant_id,
      type: 'private',
      name: 'New',
      code: full.code,
      configuration: [],
      request_parameters: [],
      runtime: 'node16',
      runtime_end_of_life: '2023-09-11',
      created_by,
      created_at,
      modified_by: created_by,
      modified_at: expect.any(String) as string,
    });
    expect(await read(id)).toEqual(put.body);
  });

  it('makes an argument loggable, and no longer once it is left out', async () => {
    const { id } = await formula();
    const of = async (): Promise<unknown> => {
      const { follower } = api.ctx.definitions;
      const definition = (await follower.current()).find('formula', api.tenant.tenant_id, id);
      const { request_parameters: shown } = await read(id);
      return { shown, inForce: definition?.requestParameters };
    };
    const [parameter] = full.request_parameters;
    for (const loggable of [true, undefined]) {
      const put = { ...full, request_parameters: [{ ...parameter, loggable }] };
      expect((await api.put(`/reactor-formulas/${id}`, put)).status).toBe(200);
      const expected = [{ ...parameter, loggable: loggable ?? false }];
      expect(await of()).toEqual({ shown: expected, inForce: expected });
    }
  });

  it('leaves an argument of an older formula unloggable', async () => {
    const { id } = await formula();
    await api.admin.query(
      `UPDATE reactor_formulas SET request_parameters = '[{"name":"a","type":"string","optional":true}]' WHERE id = $1`,
      [id],
    );
    expect((await read(id)).request_parameters).toEqual([
      { name: 'a', type: 'string', optional: true, loggable: false },
    ]);
  });

  it('is in force for the next run', async () => {
    const { id } = await formula();
    const code = 'module.exports = () => ({ raw: 2 })';
    await api.put(`/reactor-formulas/${id}`, { ...full, code });
    const definitions = await api.ctx.definitions.follower.current();
    expect(definitions.find('formula', api.tenant.tenant_id, id)).toMatchObject({ code });
  });

  it.each([
    [400, { code: full.code }],
    [400, { ...full, name: 'x'.repeat(201) }],
    [422, { ...full, code: 'not ( javascript' }],
    [422, { ...full, code: "require('child_process')" }],
  ])('answers %d and stores nothing', async (status, body) => {
    const before = await formula();
    expect((await api.put(`/reactor-formulas/${before.id}`, body)).status).toBe(status);
    expect(await read(before.id)).toMatchObject({ name: full.name, code: full.code });
  });

  it('answers 401, 403, 415 and 404', async () => {
    const { id } = await formula();
    const path = `/reactor-formulas/${id}`;
    expect((await api.put(path, full, 'nobody')).status).toBe(401);
    expect((await api.put(path, full, api.tenant.private_key)).status).toBe(403);
    expect((await api.put(path, full).set('Content-Type', 'text/plain')).status).toBe(415);
    expect((await api.put(path, full, api.foreign.management_key)).status).toBe(404);
    expect((await api.put(`/reactor-formulas/${randomUUID()}`, full)).status).toBe(404);
  });
});

describe('PATCH /reactor-formulas/{id}', () => {
  it.each([
    [{ name: 'New' }, { name: 'New' }],
    [{ description: null }, { description: undefined }],
    [{ icon: null }, { icon: undefined }],
    [{ runtime: null }, { runtime: 'node16', runtime_end_of_life: '2023-09-11' }],
    [{ configuration: null }, { configuration: [] }],
    [{ request_parameters: null }, { request_parameters: [] }],
    [{ unknown: 1 }, {}],
  ])('changes nothing but %j and answers 204', async (patch, changed) => {
    const before = await read((await formula()).id);
    const answer = await api.patch(`/reactor-formulas/${before.id}`, patch);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const { modified_at: _, ...after } = await read(before.id);
    const { modified_at: __, ...expected } = { ...before, ...changed } as Formula;
    expect(after).toEqual(JSON.parse(JSON.stringify(expected)));
  });

  it('answers {} with 204 and changes nothing, not even the time of the last change', async () => {
    const before = await read((await formula()).id);
    expect((await api.patch(`/reactor-formulas/${before.id}`, {})).status).toBe(204);
    expect(await read(before.id)).toEqual(before);
  });

  it.each([
    [400, { name: null }],
    [400, { code: null }],
    [400, { name: 5 }],
    [400, '[]'],
    [400, '{"__proto__":{"name":"x"}}'],
    [422, { code: '(' }],
  ])('answers %d to %j', async (status, patch) => {
    const before = await formula();
    expect((await api.patch(`/reactor-formulas/${before.id}`, patch)).status).toBe(status);
    expect(await read(before.id)).toMatchObject({ name: full.name });
  });

  it('answers any other media type with 415, and accepts a charset', async () => {
    const { id } = await formula();
    const path = `/reactor-formulas/${id}`;
    for (const type of ['application/json', 'text/plain', '']) {
      expect((await api.patch(path, {}).set('Content-Type', type)).status).toBe(415);
    }
    const charset = 'application/merge-patch+json; charset=utf-8';
    expect((await api.patch(path, {}).set('Content-Type', charset)).status).toBe(204);
  });

  it('loses nothing when two are sent at once', async () => {
    const { id } = await formula();
    const path = `/reactor-formulas/${id}`;
    for (let round = 0; round < 20; round += 1) {
      const [name, description] = [`name ${round}`, `description ${round}`];
      const answers = await Promise.all([
        api.patch(path, { name }),
        api.patch(path, { description }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([204, 204]);
      expect(await read(id)).toMatchObject({ name, description });
    }
  });

  it('answers 401, 403 and 404', async () => {
    const { id } = await formula();
    const path = `/reactor-formulas/${id}`;
    expect((await api.patch(path, {}, 'nobody')).status).toBe(401);
    expect((await api.patch(path, {}, api.tenant.private_key)).status).toBe(403);
    expect((await api.patch(path, {}, api.foreign.management_key)).status).toBe(404);
  });
});

describe('DELETE /reactor-formulas/{id}', () => {
  it('answers 204, then 404, and the data plane no longer knows the formula', async () => {
    const { id } = await formula();
    const gone = await api.delete(`/reactor-formulas/${id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await api.delete(`/reactor-formulas/${id}`)).status).toBe(404);
    const definitions = await api.ctx.definitions.follower.current();
    expect(definitions.find('formula', api.tenant.tenant_id, id)).toBeUndefined();
  });

  it('answers 409 while a reactor uses the formula', async () => {
    const { id } = await formula({ name: 'used', code: full.code });
    const reactor = { name: 'r', configuration: {}, formula: { id } };
    expect((await api.post('/reactors', reactor)).status).toBe(201);
    const refused = await api.delete(`/reactor-formulas/${id}`);
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'conflict' }]);
    expect((await api.get(`/reactor-formulas/${id}`)).status).toBe(200);
  });

  it('answers 401, 403 and 404', async () => {
    const { id } = await formula();
    expect((await api.delete(`/reactor-formulas/${id}`, 'nobody')).status).toBe(401);
    expect((await api.delete(`/reactor-formulas/${id}`, api.tenant.private_key)).status).toBe(403);
    const foreign = api.foreign.management_key;
    expect((await api.delete(`/reactor-formulas/${id}`, foreign)).status).toBe(404);
    expect((await api.delete('/reactor-formulas/nope')).status).toBe(404);
  });
});

describe('GET /reactor-formulas', () => {
  const list = async (query: string, key = api.tenant.management_key) => {
    const answer = await api.get(`/reactor-formulas${query}`, key);
    expect(answer.status).toBe(200);
    return answer.body as {
      pagination: Record<string, number>;
      data: Formula[];
    };
  };
  const marker = randomUUID();
  const ids: string[] = [];
  beforeAll(async () => {
    for (const name of ['Alpha', 'beta', '100%_Beta', 'Gamma*', 'back\\slash']) {
      ids.push((await formula({ name: `${marker} ${name}`, code: full.code })).id);
    }
  });

  it('answers 200 with pages, newest first', async () => {
    const first = await list(`?name=${marker}*&size=2`);
    expect(first.pagination).toMatchObject({
      total_items: 5,
      page_number: 1,
      page_size: 2,
      total_pages: 3,
    });
    const rest = [
      ...(await list(`?name=${marker}*&size=2&page=2`)).data,
      ...(await list(`?name=${marker}*&size=2&page=3`)).data,
    ];
    const seen = [...first.data, ...rest].map(({ id }) => id);
    expect(seen).toEqual([...ids].reverse());
    expect(first.data[0]).toEqual(await read(seen[0] ?? ''));
  });

  it('answers 200 with nothing past the end', async () => {
    const answer = await list(`?name=${marker}*&page=99`);
    expect(answer.data).toEqual([]);
    expect(answer.pagination.total_items).toBe(5);
  });

  it.each([
    ['*BETA', 2],
    [' beta', 1],
    [' 100%25_*', 1],
    [' 1__%25*', 0],
    [' %25', 0],
    [' gamma*', 1],
    [' back\\slash', 1],
    ['', 0],
  ])('filters by the name %j', async (name, count) => {
    expect((await list(`?name=${marker}${name}`)).data).toHaveLength(count);
  });

  it('filters by ids in either case', async () => {
    const [a = '', b = ''] = ids;
    const answer = await list(`?id=${a.toUpperCase()}&id=${b}&id=${randomUUID()}`);
    expect(answer.data.map(({ id }) => id).sort()).toEqual([a, b].sort());
  });

  it('never shows formulas of another tenant', async () => {
    const foreign = api.foreign.management_key;
    expect((await list(`?id=${ids[0]}`, foreign)).data).toEqual([]);
    expect((await list('', foreign)).pagination.total_items).toBe(0);
  });

  it.each([
    ['?page=0', 'page'],
    ['?page=-1', 'page'],
    ['?page=x', 'page'],
    ['?page=1&page=2', 'page'],
    ['?size=0', 'size'],
    ['?size=101', 'size'],
    ['?size=1e1', 'size'],
    ['?id=nope', 'id'],
    ['?name=%00', 'name'],
  ])('refuses %s with 400', async (query, member) => {
    const refused = await api.get(`/reactor-formulas${query}`);
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: 'validation_failed', errors: { [member]: [expect.any(String) as string] } },
    ]);
  });

  it('answers 401 and 403', async () => {
    expect((await api.get('/reactor-formulas', 'nobody')).status).toBe(401);
    expect((await api.get('/reactor-formulas', api.tenant.private_key)).status).toBe(403);
  });
});
