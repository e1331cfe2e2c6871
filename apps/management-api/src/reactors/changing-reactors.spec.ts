import { randomUUID } from 'node:crypto';
import { useTestApi } from '../spec-api';

const api = useTestApi();
let formulaId: string;
let applicationId: string;

beforeAll(async () => {
  formulaId = await formula();
  applicationId = await application();
});

type Reactor = Record<string, unknown> & { id: string };

const text = expect.any(String) as string;
const code = 'module.exports = () => ({})';
const declared = [
  { name: 'KEY', type: 'string' },
  { name: 'LIMIT', type: 'number' },
];
const configuration = { KEY: 'k', LIMIT: '10' };
const full = () => ({
  name: 'Reactor',
  configuration,
  formula: { id: formulaId },
  application: { id: applicationId },
  isolation: 'run',
});

const made = async (path: string, body: object): Promise<string> => (await api.made(path, body)).id;

const formula = (): Promise<string> =>
  made('/reactor-formulas', { name: 'F', code, configuration: declared });
const application = (type = 'public', permissions = ['token:create']): Promise<string> =>
  made('/applications', { name: 'A', type, permissions });

async function reactor(input: object = {}): Promise<Reactor> {
  return read(await made('/reactors', { ...full(), ...input }));
}

const read = async (id: string): Promise<Reactor> =>
  (await api.get(`/reactors/${id}`)).body as Reactor;

const inForce = (id: string) => api.inForce('reactor', id);

describe('PUT /reactors/{id}', () => {
  it('replaces all; omitted members return to their defaults or are detached', async () => {
    const { id, formula, created_at, created_by } = await reactor();
    const put = await api.put(`/reactors/${id}`, {
      name: 'New',
      configuration: { KEY: 'new', LIMIT: 5 },
    });
    expect(put.status).toBe(200);
    expect(put.body).toEqual({
      id,
      tenant_id: api.tenant.tenant_id,
      name: 'New',
      formula,
      configuration: { KEY: 'new', LIMIT: '5' },
      isolation: 'warm',
      created_by,
      created_at,
      modified_by: created_by,
      modified_at: text,
    });
    expect(await read(id)).toEqual(put.body);
  });

  it('answers 200 with the application, which get and list do not show', async () => {
    const { id } = await reactor({ application: null });
    const put = await api.put(`/reactors/${id}`, full());
    expect(put.status).toBe(200);
    const { application, ...rest } = put.body as Reactor;
    expect(application).toEqual((await api.get(`/applications/${applicationId}`)).body);
    expect(await read(id)).toEqual(rest);
    const listed = await api.get(`/reactors?id=${id}`);
    expect(listed.body).toMatchObject({ data: [rest] });
    expect(listed.text).not.toContain('"application"');
  });

  it('accepts the formula in either case, and null', async () => {
    const { id } = await reactor();
    for (const formula of [{ id: formulaId.toUpperCase() }, null]) {
      const put = await api.put(`/reactors/${id}`, { ...full(), formula });
      expect([put.status, put.body]).toMatchObject([200, { formula: { id: formulaId } }]);
    }
  });

  it('is in force at once', async () => {
    const { id } = await reactor();
    const configuration = { KEY: 'fresh', LIMIT: '1' };
    expect((await api.put(`/reactors/${id}`, { name: 'N', configuration })).status).toBe(200);
    expect(inForce(id)).toEqual({
      kind: 'reactor',
      id,
      tenantId: api.tenant.tenant_id,
      formulaId,
      applicationId: null,
      configuration,
      isolation: 'warm',
    });
  });

  it.each([
    [{ name: undefined }, { name: ['is required'] }],
    [{ name: 'x'.repeat(201) }, { name: ['must be at most 200 characters'] }],
    [{ configuration: undefined }, { configuration: ['is required'] }],
    [{ configuration: null }, { configuration: ['is required'] }],
    [{ configuration: { KEY: 'k' } }, { 'configuration.LIMIT': ['is required'] }],
    [
      { configuration: { ...configuration, LIMIT: 'ten', OTHER: 'x' } },
      {
        'configuration.LIMIT': ['must be a number'],
        'configuration.OTHER': ['is not declared by the formula'],
      },
    ],
    [{ formula: {} }, { 'formula.id': ['is required'] }],
    [{ formula: { id: randomUUID() } }, { 'formula.id': [text] }],
    [{ application: { id: randomUUID() } }, { 'application.id': [text] }],
    [{ isolation: 'cold' }, { isolation: ['must be warm or run'] }],
  ])('refuses %j with 400 and stores nothing', async (change, errors) => {
    const before = await reactor();
    const refused = await api.put(`/reactors/${before.id}`, { ...full(), ...change });
    expect([refused.status, (refused.body as { errors: object }).errors]).toEqual([400, errors]);
    expect(await read(before.id)).toEqual(before);
  });

  it('refuses another formula of the tenant and a management application with 400', async () => {
    const before = await reactor();
    const other = { formula: { id: await formula() } };
    const management = { application: { id: await application('management', ['log:read']) } };
    for (const [change, member] of [
      [other, 'formula.id'],
      [management, 'application.id'],
    ] as const) {
      const refused = await api.put(`/reactors/${before.id}`, { ...full(), ...change });
      expect(refused.body).toMatchObject({ status: 400, errors: { [member]: [text] } });
    }
    expect(await read(before.id)).toEqual(before);
  });
});

describe('PATCH /reactors/{id}', () => {
  it.each([
    [{ name: 'New' }, { name: 'New' }, {}],
    [{ isolation: 'warm' }, { isolation: 'warm' }, { isolation: 'warm' }],
    [{ isolation: null }, { isolation: 'warm' }, { isolation: 'warm' }],
    [{ application: null }, { application_id: undefined }, { applicationId: null }],
    [{ application: { id: null } }, { application_id: undefined }, { applicationId: null }],
    [
      { configuration: { KEY: 'new' } },
      { configuration: { KEY: 'new', LIMIT: '10' } },
      { configuration: { KEY: 'new', LIMIT: '10' } },
    ],
    [{ configuration: { LIMIT: 7 } }, { configuration: { KEY: 'k', LIMIT: '7' } }, {}],
    [{ configuration: {} }, {}, {}],
    [{ configuration: { OTHER: null } }, {}, {}],
    [{ application: {} }, {}, {}],
    [{ formula: {} }, {}, {}],
    [{ unknown: 1 }, {}, {}],
  ])('changes nothing but %j, at once, and answers 204', async (patch, changed, changedInForce) => {
    const before = await reactor();
    const definition = inForce(before.id);
    const answer = await api.patch(`/reactors/${before.id}`, patch);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const after = await read(before.id);
    const { modified_at } = after;
    expect(after).toEqual(JSON.parse(JSON.stringify({ ...before, ...changed, modified_at })));
    const { configuration } = after;
    expect(inForce(before.id)).toEqual({ ...definition, configuration, ...changedInForce });
  });

  it('attaches another application, and accepts the same formula', async () => {
    const { id } = await reactor();
    const other = await application('private', ['token:use']);
    const patch = { application: { id: other }, formula: { id: formulaId } };
    expect((await api.patch(`/reactors/${id}`, patch)).status).toBe(204);
    expect(inForce(id)).toMatchObject({ applicationId: other, formulaId });
  });

  it.each([
    [{ name: null }, { name: ['is required'] }],
    [{ name: 5 }, { name: ['must be a string'] }],
    [{ configuration: null }, { configuration: ['is required'] }],
    [{ configuration: [] }, { configuration: ['must be an object'] }],
    [{ configuration: { KEY: {} } }, { configuration: [text] }],
    [{ configuration: { KEY: null } }, { 'configuration.KEY': ['is required'] }],
    [{ configuration: { LIMIT: 'x' } }, { 'configuration.LIMIT': ['must be a number'] }],
    [{ configuration: { NEW: 'x' } }, { 'configuration.NEW': ['is not declared by the formula'] }],
    [{ formula: null }, { formula: ['is required'] }],
    [{ formula: { id: null } }, { 'formula.id': ['is required'] }],
    [{ formula: { id: randomUUID() } }, { 'formula.id': [text] }],
    [{ application: { id: randomUUID() } }, { 'application.id': [text] }],
    [{ isolation: 'cold' }, { isolation: ['must be warm or run'] }],
    [[], { body: ['must be a JSON object'] }],
  ])('refuses %j with 400 and stores nothing', async (patch, errors) => {
    const before = await reactor();
    const refused = await api.patch(`/reactors/${before.id}`, patch);
    expect([refused.status, (refused.body as { errors: object }).errors]).toEqual([400, errors]);
    expect(await read(before.id)).toEqual(before);
  });

  it('loses nothing when two are sent at once', async () => {
    const { id } = await reactor();
    const path = `/reactors/${id}`;
    for (let round = 0; round < 20; round += 1) {
      const [name, KEY] = [`name ${round}`, `key ${round}`];
      const answers = await Promise.all([
        api.patch(path, { name }),
        api.patch(path, { configuration: { KEY } }),
        api.patch(path, { configuration: { LIMIT: round } }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
      const expected = { name, configuration: { KEY, LIMIT: String(round) } };
      expect(await read(id)).toMatchObject(expected);
      expect(inForce(id)).toMatchObject({ configuration: expected.configuration });
    }
  });
});

describe('a formula that has changed since', () => {
  it('is held against a configuration at its next write, and not before', async () => {
    const changing = await formula();
    const { id } = await reactor({ formula: { id: changing } });
    const path = `/reactors/${id}`;
    const more = [...declared, { name: 'MORE', type: 'boolean' }];
    await api.put(`/reactor-formulas/${changing}`, { name: 'F', code, configuration: more });

    expect(await read(id)).toMatchObject({ configuration });
    expect((await api.patch(path, {})).status).toBe(204);
    const refused = await api.patch(path, { name: 'New' });
    expect(refused.body).toMatchObject({
      status: 400,
      errors: { 'configuration.MORE': ['is required'] },
    });
    const patch = { name: 'New', configuration: { MORE: true } };
    expect((await api.patch(path, patch)).status).toBe(204);
  });
});

describe('DELETE /reactors/{id}', () => {
  it('frees the formula', async () => {
    const used = await formula();
    const { id } = await reactor({ formula: { id: used } });
    expect((await api.delete(`/reactor-formulas/${used}`)).status).toBe(409);
    await api.delete(`/reactors/${id}`);
    expect((await api.delete(`/reactor-formulas/${used}`)).status).toBe(204);
  });
});
