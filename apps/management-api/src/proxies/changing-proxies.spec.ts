import { randomUUID } from 'node:crypto';
import { useTestApi } from '../spec-api';

const api = useTestApi();
let applicationId: string;

beforeAll(async () => {
  applicationId = await application();
});

type Proxy = Record<string, unknown> & { id: string; key: string };

const text = expect.any(String) as string;
const code = 'module.exports = async (req) => req.args;';
const bare = { name: 'Proxy', destination_url: 'https://echo.example.com/v1?a=1' };
const members = {
  ...bare,
  request_transform: { code, runtime: 'node20' },
  response_transform: { code },
  configuration: { KEY: 'k', OTHER: 'o' },
  require_auth: false,
  detokenize: false,
  scrub: true,
  isolation: 'run',
  timeout_ms: 5_000,
};
const full = () => ({ ...members, application: { id: applicationId } });

const application = async (type = 'public', permissions = ['token:create']): Promise<string> =>
  (await api.made('/applications', { name: 'A', type, permissions })).id;

async function proxy(input: object = full()): Promise<Proxy> {
  return read((await api.made<Proxy>('/proxies', input)).id);
}

const read = async (id: string): Promise<Proxy> => (await api.get(`/proxies/${id}`)).body as Proxy;

const inForce = (id: string) => api.inForce('proxy', id);

/** Drops undefined members, like JSON does. */
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('PUT /proxies/{id}', () => {
  it('replaces all but the key, and resets omitted members to their defaults', async () => {
    const { id, key, created_at, created_by } = await proxy();
    const put = await api.put(`/proxies/${id}`, {
      name: 'New',
      destination_url: 'https://other.example.com',
      key: 'mine',
    });
    expect(put.status).toBe(200);
    expect(put.body).toEqual({
      id,
      key,
      tenant_id: api.tenant.tenant_id,
      name: 'New',
      destination_url: 'https://other.example.com',
      require_auth: true,
      detokenize: true,
      isolation: 'warm',
      created_by,
      created_at,
      modified_by: created_by,
      modified_at: text,
    });
    expect(await read(id)).toEqual(put.body);
  });

  it('sets every member, and shows the application by its id alone', async () => {
    const { id, key } = await proxy(bare);
    const put = await api.put(`/proxies/${id}`, full());
    expect(put.status).toBe(200);
    expect(put.body).toMatchObject({ ...members, id, key, application_id: applicationId });
    expect(put.body).not.toHaveProperty('application');
    expect(await read(id)).toEqual(put.body);
  });

  it('treats null on an optional member as absent', async () => {
    const { id, key } = await proxy();
    const absent = Object.keys(full()).filter((name) => !(name in bare));
    const nulls = Object.fromEntries(absent.map((name) => [name, null]));
    const put = await api.put(`/proxies/${id}`, { ...bare, ...nulls });
    expect(put.status).toBe(200);
    const { body } = await api.put(`/proxies/${id}`, bare);
    expect(put.body).toEqual({ ...(body as Proxy), key, modified_at: text });
  });

  it.each([null, {}, { code: null }, { code: '' }, { code: '', runtime: 'node20' }])(
    'takes %j for a transform as none, like POST',
    async (transform) => {
      const none = { ...full(), request_transform: transform, response_transform: transform };
      const { id } = await proxy();
      const put = await api.put(`/proxies/${id}`, none);
      expect([put.status, put.text]).toEqual([200, put.text]);
      for (const one of [put.body as object, await proxy(none)]) {
        expect(one).not.toHaveProperty('request_transform');
        expect(one).not.toHaveProperty('response_transform');
      }
      expect(inForce(id)).toMatchObject({ requestTransform: null, responseTransform: null });
    },
  );

  it('is in force at once under the same key', async () => {
    const { id, key } = await proxy();
    expect((await api.put(`/proxies/${id}`, bare)).status).toBe(200);
    const definitions = api.ctx.definitions.follower.fresh();
    expect(definitions?.proxyByKeyHash(api.ctx.keyHash(key))).toEqual({
      kind: 'proxy',
      id,
      tenantId: api.tenant.tenant_id,
      keyHash: api.ctx.keyHash(key),
      destinationUrl: bare.destination_url,
      requireAuth: true,
      detokenize: true,
      requestTransform: null,
      responseTransform: null,
      requestSteps: [],
      responseSteps: [],
      applicationId: null,
      configuration: {},
      isolation: 'warm',
      timeoutMs: null,
      tls: null,
      allowedOrigins: [],
      match: null,
      forwardTo: null,
    });
  });

  it.each([
    [400, { name: undefined }, { name: ['is required'] }],
    [400, { name: 'x'.repeat(201) }, { name: ['must be at most 200 characters'] }],
    [400, { destination_url: null }, { destination_url: ['is required'] }],
    [400, { destination_url: 'https://10.0.0.1/' }, { destination_url: [text] }],
    [400, { destination_url: 'https://a:b@example.com/' }, { destination_url: [text] }],
    [400, { application: { id: randomUUID() } }, { 'application.id': [text] }],
    [400, { configuration: { KEY: {} } }, { configuration: [text] }],
    [400, { require_auth: 'no' }, { require_auth: ['must be true or false'] }],
    [400, { timeout_ms: 10 }, { timeout_ms: [text] }],
    [422, { request_transform: { code: '(' } }, { 'request_transform.code': [text] }],
    [422, { response_transform: { code: '(' } }, { 'response_transform.code': [text] }],
  ])('answers %d to %j and stores nothing', async (status, change, errors) => {
    const before = await proxy();
    const refused = await api.put(`/proxies/${before.id}`, { ...full(), ...change });
    expect([refused.status, (refused.body as { errors: object }).errors]).toEqual([status, errors]);
    expect(await read(before.id)).toEqual(before);
  });

  it('refuses a management application and one of another tenant with 400', async () => {
    const { id } = await proxy();
    const management = await application('management', ['log:read']);
    for (const wrong of [management, api.foreign.tenant_id]) {
      const refused = await api.put(`/proxies/${id}`, { ...bare, application: { id: wrong } });
      expect(refused.body).toMatchObject({ status: 400, errors: { 'application.id': [text] } });
    }
  });
});

describe('PATCH /proxies/{id}', () => {
  const other = 'module.exports = () => ({})';
  const [endOf16, endOf20] = ['2023-09-11', '2026-04-30'];
  const request = { ...members.request_transform, runtime_end_of_life: endOf20 };
  const response = { ...members.response_transform, runtime_end_of_life: endOf16 };

  it.each([
    [{ name: 'New' }, { name: 'New' }],
    [{ destination_url: 'https://b.example' }, { destination_url: 'https://b.example' }],
    [{ request_transform: null }, { request_transform: undefined }],
    [{ request_transform: { code: other } }, { request_transform: { ...request, code: other } }],
    [
      { request_transform: { runtime: null } },
      { request_transform: { code, runtime_end_of_life: endOf16 } },
    ],
    [{ request_transform: {} }, {}],
    [{ response_transform: null }, { response_transform: undefined }],
    [
      { response_transform: { runtime: 'node20' } },
      { response_transform: { ...response, runtime: 'node20', runtime_end_of_life: endOf20 } },
    ],
    [{ application: null }, { application_id: undefined }],
    [{ application: {} }, {}],
    [{ application: { id: null } }, { application_id: undefined }],
    [{ client_certificate: {} }, {}],
    [{ configuration: null }, { configuration: undefined }],
    [{ configuration: { KEY: 'new' } }, { configuration: { KEY: 'new', OTHER: 'o' } }],
    [{ configuration: { MORE: 1 } }, { configuration: { KEY: 'k', OTHER: 'o', MORE: '1' } }],
    [{ configuration: { KEY: null } }, { configuration: { OTHER: 'o' } }],
    [{ configuration: { KEY: null, OTHER: null } }, { configuration: {} }],
    [{ configuration: {} }, {}],
    [{ require_auth: null }, { require_auth: true }],
    [{ require_auth: true }, { require_auth: true }],
    [{ detokenize: null }, { detokenize: true }],
    [{ scrub: null }, { scrub: undefined }],
    [{ scrub: false }, { scrub: undefined }],
    [{ isolation: null }, { isolation: 'warm' }],
    [{ timeout_ms: null }, { timeout_ms: undefined }],
    [{ timeout_ms: 30_000 }, { timeout_ms: 30_000 }],
    [{ unknown: 1, key: 'mine', id: randomUUID() }, {}],
  ])('changes nothing but %j and answers 204', async (patch, changed) => {
    const before = await proxy();
    const answer = await api.patch(`/proxies/${before.id}`, patch);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const after = await read(before.id);
    expect(after).toEqual(wire({ ...before, ...changed, modified_at: after.modified_at }));
  });

  it('adds each optional member to a bare proxy', async () => {
    const before = await proxy(bare);
    for (const [name, value] of Object.entries(full())) {
      expect((await api.patch(`/proxies/${before.id}`, { [name]: value })).status).toBe(204);
    }
    const after = await read(before.id);
    const { modified_at } = after;
    const shown = { ...members, request_transform: request, response_transform: response };
    expect(after).toEqual({ ...before, ...shown, application_id: applicationId, modified_at });
  });

  it('takes {} for what a bare proxy does not have as no change, and a transform without code as a fault', async () => {
    const before = await proxy(bare);
    const path = `/proxies/${before.id}`;
    const nothing = { request_transform: {}, response_transform: {}, client_certificate: {} };
    expect((await api.patch(path, { ...nothing, application: {} })).status).toBe(204);
    const { modified_at } = await read(before.id);
    expect(await read(before.id)).toEqual({ ...before, modified_at });
    for (const request_transform of [{ code: '' }, { runtime: 'node20' }]) {
      expect((await api.patch(path, { request_transform })).status).toBe(400);
    }
  });

  it('keeps its destination through changes of other members, although calls may no longer reach it', async () => {
    const { id } = await proxy();
    const path = `/proxies/${id}`;
    const destination_url = 'http://localhost:3000/';
    // A release that did not refuse it has stored it.
    await api.admin.query('UPDATE proxies SET destination_url = $2 WHERE id = $1', [
      id,
      destination_url,
    ]);
    expect((await api.patch(path, { name: 'New' })).status).toBe(204);
    expect((await api.put(path, await read(id))).status).toBe(200);
    expect(inForce(id)).toMatchObject({ destinationUrl: destination_url });
    const refused = await api.patch(path, { destination_url: 'http://localhost:3001/' });
    expect(refused.body).toMatchObject({ status: 400, errors: { destination_url: [text] } });
  });

  it('is in force at once', async () => {
    const { id } = await proxy();
    const definition = inForce(id);
    const patch = { require_auth: true, configuration: { KEY: null }, request_transform: null };
    expect((await api.patch(`/proxies/${id}`, patch)).status).toBe(204);
    expect(inForce(id)).toEqual({
      ...definition,
      requireAuth: true,
      configuration: { OTHER: 'o' },
      requestTransform: null,
    });
  });

  it.each([
    [400, { name: null }, { name: ['is required'] }],
    [400, { name: 5 }, { name: ['must be a string'] }],
    [400, { destination_url: null }, { destination_url: ['is required'] }],
    [400, { destination_url: 'ftp://example.com' }, { destination_url: [text] }],
    [400, { destination_url: 'http://example.com' }, { destination_url: [text] }],
    [400, { request_transform: { code: null } }, { 'request_transform.code': ['is required'] }],
    [400, { request_transform: { code: '' } }, { 'request_transform.code': ['must not be empty'] }],
    [400, { response_transform: 'x' }, { response_transform: ['must be an object'] }],
    [400, { response_transform: { runtime: 'x' } }, { 'response_transform.runtime': [text] }],
    [400, { application: { id: randomUUID() } }, { 'application.id': [text] }],
    [400, { configuration: [] }, { configuration: ['must be an object'] }],
    [400, { configuration: { KEY: { a: 1 } } }, { configuration: [text] }],
    [400, { require_auth: 1 }, { require_auth: ['must be true or false'] }],
    [400, { detokenize: 'x' }, { detokenize: ['must be true or false'] }],
    [400, { scrub: 'x' }, { scrub: ['must be true or false'] }],
    [400, { isolation: 'cold' }, { isolation: ['must be warm or run'] }],
    [400, { timeout_ms: 1.5 }, { timeout_ms: [text] }],
    [400, [], { body: ['must be a JSON object'] }],
    [422, { request_transform: { code: '(' } }, { 'request_transform.code': [text] }],
    [422, { response_transform: { code: "require('fs')" } }, { 'response_transform.code': [text] }],
  ])('answers %d to %j and stores nothing', async (status, patch, errors) => {
    const before = await proxy();
    const refused = await api.patch(`/proxies/${before.id}`, patch);
    expect([refused.status, (refused.body as { errors: object }).errors]).toEqual([status, errors]);
    expect(await read(before.id)).toEqual(before);
  });

  it('loses nothing when two are sent at once', async () => {
    const { id } = await proxy();
    const path = `/proxies/${id}`;
    for (let round = 0; round < 20; round += 1) {
      const [name, KEY, timeout_ms] = [`name ${round}`, `key ${round}`, 1_000 + round];
      const answers = await Promise.all([
        api.patch(path, { name, timeout_ms }),
        api.patch(path, { configuration: { KEY } }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([204, 204]);
      const configuration = { KEY, OTHER: 'o' };
      expect(await read(id)).toMatchObject({ name, timeout_ms, configuration });
      expect(inForce(id)).toMatchObject({ timeoutMs: timeout_ms, configuration });
    }
  });
});

it('DELETE /proxies/{id} ends the use of its key', async () => {
  const { id, key } = await proxy();
  const find = () => api.ctx.definitions.follower.fresh()?.proxyByKeyHash(api.ctx.keyHash(key));
  expect(find()).toMatchObject({ id });
  expect((await api.delete(`/proxies/${id}`)).status).toBe(204);
  expect(find()).toBeUndefined();
});
