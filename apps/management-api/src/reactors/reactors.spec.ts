import { randomUUID } from 'node:crypto';
import { useTestApi } from '../spec-api';
const api = useTestApi();

const text = expect.any(String) as string;
const code = 'module.exports = async () => ({});';
let formulaId: string;
let applicationId: string;

beforeAll(async () => {
  const formula = await api.post('/reactor-formulas', {
    name: 'Formula',
    code,
    configuration: [
      { name: 'KEY', type: 'string' },
      { name: 'LIMIT', type: 'number' },
      { name: 'LIVE', type: 'boolean' },
    ],
  });
  formulaId = (formula.body as { id: string }).id;
  const permissions = ['token:create'];
  const application = await api.post('/applications', { name: 'App', type: 'public', permissions });
  applicationId = (application.body as { id: string }).id;
});

const configuration = { KEY: 'k-canary', LIMIT: 10, LIVE: true };
const input = () => ({ name: 'Reactor', configuration, formula: { id: formulaId } });

describe('POST /reactors', () => {
  it('answers 201 with formula, application and the configuration as strings', async () => {
    const created = await api.post('/reactors', {
      ...input(),
      formula: { id: formulaId.toUpperCase() },
      application: { id: applicationId },
    });
    expect(created.status).toBe(201);
    const { code: _, ...formula } = (await api.get(`/reactor-formulas/${formulaId}`)).body as {
      code: string;
    };
    expect(created.body).toEqual({
      id: text,
      tenant_id: api.tenant.tenant_id,
      name: 'Reactor',
      formula,
      configuration: { KEY: 'k-canary', LIMIT: '10', LIVE: 'true' },
      application: (await api.get(`/applications/${applicationId}`)).body as object,
      application_id: applicationId,
      isolation: 'warm',
      created_by: text,
      created_at: text,
    });
  });

  it('answers without an application if there is none', async () => {
    const created = await api.post('/reactors', {
      ...input(),
      application: null,
      isolation: 'run',
    });
    expect(created.status).toBe(201);
    expect(created.body).not.toHaveProperty('application');
    expect(created.body).toMatchObject({ isolation: 'run' });
  });

  it.each([
    [{ name: undefined }, { name: ['is required'] }],
    [{ configuration: undefined }, { configuration: ['is required'] }],
    [{ configuration: [] }, { configuration: ['must be an object'] }],
    [{ configuration: { ...configuration, KEY: null } }, { configuration: [text] }],
    [{ formula: undefined }, { formula: ['is required'] }],
    [{ formula: 'x' }, { formula: ['must be an object'] }],
    [{ formula: {} }, { 'formula.id': ['is required'] }],
    [{ formula: { id: '1' } }, { 'formula.id': ['must be a UUID'] }],
    [{ formula: { id: randomUUID() } }, { 'formula.id': ['must be a formula of the tenant'] }],
    [{ application: { id: randomUUID() } }, { 'application.id': [text] }],
    [{ isolation: 'none' }, { isolation: ['must be warm or run'] }],
    [
      { configuration: { LIMIT: '1e', LIVE: 'yes', OTHER: 'x' } },
      {
        'configuration.KEY': ['is required'],
        'configuration.LIMIT': ['must be a number'],
        'configuration.LIVE': ['must be a boolean'],
        'configuration.OTHER': ['is not declared by the formula'],
      },
    ],
  ])('refuses %j with 400', async (change, errors) => {
    const refused = await api.post('/reactors', { ...input(), ...change });
    expect(refused.status).toBe(400);
    expect((refused.body as { errors: object }).errors).toEqual(errors);
  });

  it.each(['09', '.5', '+1'])('takes %s for a number of the configuration', async (LIMIT) => {
    const made = await api.post('/reactors', {
      ...input(),
      configuration: { ...configuration, LIMIT },
    });
    expect([made.status, made.text]).toEqual([201, made.text]);
  });

  it('refuses a management application and resources of another tenant with 400', async () => {
    const management = await api.post('/applications', {
      name: 'm',
      type: 'management',
      permissions: ['log:read'],
    });
    const application = { id: (management.body as { id: string }).id };
    const refused = await api.post('/reactors', { ...input(), application });
    expect(refused.body).toMatchObject({ status: 400, errors: { 'application.id': [text] } });
    const foreign = await api.post(
      '/reactors',
      { ...input(), application: { id: applicationId } },
      api.foreign.management_key,
    );
    expect(foreign.body).toMatchObject({
      status: 400,
      errors: { 'formula.id': [text], 'application.id': [text] },
    });
  });

  it('answers 401 and 403', async () => {
    expect((await api.post('/reactors', input(), 'nobody')).status).toBe(401);
    expect((await api.post('/reactors', input(), api.tenant.private_key)).status).toBe(403);
  });
});

describe('GET /reactors/{id}', () => {
  it('answers 200 without the application, and names who changed it last', async () => {
    const made = (await api.post('/reactors', { ...input(), application: { id: applicationId } }))
      .body as Record<string, string>;
    const { application: _, ...rest } = made;
    const found = await api.get(`/reactors/${made.id}`);
    expect(found.status).toBe(200);
    expect(found.body).toEqual({
      ...rest,
      modified_by: made.created_by,
      modified_at: made.created_at,
    });
  });

  it('answers 401, 403 and 404', async () => {
    const { id } = (await api.post('/reactors', input())).body as { id: string };
    expect((await api.get(`/reactors/${id}`, 'nobody')).status).toBe(401);
    expect((await api.get(`/reactors/${id}`, api.tenant.private_key)).status).toBe(403);
    expect((await api.get(`/reactors/${id}`, api.foreign.management_key)).status).toBe(404);
    expect((await api.get(`/reactors/${randomUUID()}`)).status).toBe(404);
  });
});

it('the data plane gets everything that a run of a reactor needs', async () => {
  const { id } = (await api.post('/reactors', { ...input(), application: { id: applicationId } }))
    .body as { id: string };
  const definitions = await api.ctx.definitions.follower.current();
  expect(definitions.find('reactor', api.tenant.tenant_id, id)).toEqual({
    kind: 'reactor',
    id,
    tenantId: api.tenant.tenant_id,
    formulaId,
    applicationId,
    configuration: { KEY: 'k-canary', LIMIT: '10', LIVE: 'true' },
    isolation: 'warm',
  });
  expect(definitions.find('formula', api.tenant.tenant_id, formulaId)).toMatchObject({
    code,
    runtime: 'node16',
    requestParameters: [],
  });
});
