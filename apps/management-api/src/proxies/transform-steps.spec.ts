import { inTenant } from '../database/in-tenant';
import { useTestApi } from '../spec-api';

const api = useTestApi({ HEADER_PREFIXES: 'SVC,BT' });
let applicationId: string;

beforeAll(async () => {
  const application = { name: 'A', type: 'private', permissions: ['token:create'] };
  applicationId = (await api.made('/applications', application)).id;
});

const bare = { name: 'Proxy', destination_url: 'https://echo.example.com/v1' };
const text = expect.any(String) as string;

const mask = {
  type: 'mask',
  options: { path: '$.card.number', expression: 'ends in {{ $.card.number | last4 }}' },
};
const tokenize = {
  type: 'tokenize',
  options: {
    path: '$.cards[*]',
    token: {
      type: 'card',
      containers: ['/pci/low/'],
      mask: { number: '{{ data.number | last4 }}' },
      metadata: { from: 'proxy' },
      search_indexes: ['{{ data.number | last4 }}'],
      fingerprint_expression: '{{ data.number }}',
      deduplicate_token: true,
      expires_at: '2099-01-01T00:00:00Z',
    },
  },
};
const detokenize = { type: 'detokenize', options: { path: '$.template', enabled: false } };
const header = {
  type: 'append',
  options: { location: 'header', name: 'X-Api-Key', value: 'canary-5b1c é' },
};
const appended = {
  type: 'append',
  options: { location: 'body', path: '$.source', value: { z: [null, '\u0000'], a: 10.5 } },
};
const forRequests = [
  mask,
  tokenize,
  detokenize,
  header,
  appended,
  { type: 'append', options: { location: 'query', name: 'a b', value: '' } },
  { type: 'append', options: { location: 'body', path: '$', value: null } },
  { type: 'remove', options: { location: 'header', name: 'Authorization' } },
  { type: 'remove', options: { location: 'query', name: 'debug' } },
  { type: 'remove', options: { location: 'body', path: '$..cvc' } },
];
const forAnswers = [tokenize, mask, header];
const full = () => ({
  ...bare,
  application: { id: applicationId },
  request_transforms: forRequests,
  response_transforms: forAnswers,
});

type Proxy = Record<string, unknown> & { id: string };

const made = (input: object = full()): Promise<Proxy> => api.made<Proxy>('/proxies', input);

const read = async (id: string): Promise<Proxy> => (await api.get(`/proxies/${id}`)).body as Proxy;

/** Returns the steps that the next call would run. */
const inForce = (id: string) => {
  const proxy = api.inForce('proxy', id);
  return proxy && { request: proxy.requestSteps, response: proxy.responseSteps };
};

const withValue = (value: string) => ({
  type: 'append',
  options: { location: 'header', name: 'Authorization', value },
});

describe('steps of a proxy', () => {
  it('are shown by create, get and list as they were written, and are in force at once', async () => {
    const created = await made();
    const steps = { request_transforms: forRequests, response_transforms: forAnswers };
    expect(created).toMatchObject(steps);
    expect(JSON.stringify(created.request_transforms)).toBe(JSON.stringify(forRequests));
    const { id } = created;
    expect(JSON.stringify((await read(id)).request_transforms)).toBe(JSON.stringify(forRequests));
    const listed = await api.get(`/proxies?id=${id}`);
    expect(listed.body).toMatchObject({ data: [steps] });
    expect(inForce(id)).toEqual({ request: forRequests, response: forAnswers });
  });

  it('are sealed in Postgres, since a header may hold a destination’s key', async () => {
    const { id } = await made();
    const [row] = await inTenant(api.ctx.dataSource, api.tenant.tenant_id, (manager) =>
      manager.query<{ row: string; steps: Buffer }[]>(
        `SELECT p::text AS row, p.steps FROM proxies p WHERE id = $1`,
        [id],
      ),
    );
    expect(row?.steps).toBeInstanceOf(Buffer);
    expect(row?.row).not.toContain(Buffer.from('canary-5b1c').toString('hex'));
    expect(row?.row).not.toContain('canary-5b1c');
  });

  it('keep their declared members alone, and give a token without a type the default', async () => {
    const extra = { ...mask, note: 'x', options: { ...mask.options, constructor: 'x' } };
    const token = { id: 'mine', data: 'x', metadata: null };
    const { id } = await made({
      ...full(),
      request_transforms: [extra],
      response_transforms: [{ type: 'tokenize', options: { path: '$', token } }],
    });
    expect(inForce(id)).toEqual({
      request: [mask],
      response: [{ type: 'tokenize', options: { path: '$', token: { type: 'token' } } }],
    });
  });

  it('are shown and in force as required, wherever the document says so', async () => {
    const required = (step: { options: object }) => ({
      ...step,
      options: { ...step.options, required: true },
    });
    const withPath = [mask, tokenize, detokenize, appended, forRequests[9] as typeof mask];
    const beside = withPath.map((step) => ({ ...step, required: true, options: step.options }));
    for (const written of [withPath.map(required), beside]) {
      const { id } = await made({ ...full(), request_transforms: written });
      expect((await read(id)).request_transforms).toEqual(withPath.map(required));
      expect(inForce(id)?.request).toEqual(withPath.map(required));
    }
    const optional = withPath.map((step, at) => ({ ...step, required: at === 0 ? null : false }));
    const { id } = await made({ ...full(), request_transforms: optional });
    expect((await read(id)).request_transforms).toEqual(withPath);
  });

  it('are left out of answers if there are none, and an empty list counts as none', async () => {
    const created = await made({ ...bare, request_transforms: [], response_transforms: null });
    expect(created).not.toHaveProperty('request_transforms');
    expect(created).not.toHaveProperty('response_transforms');
    expect(inForce(created.id)).toEqual({ request: [], response: [] });
  });

  it('are removed by a PUT that leaves them out', async () => {
    const { id } = await made();
    const put = await api.put(`/proxies/${id}`, bare);
    expect(put.status).toBe(200);
    expect(put.body).not.toHaveProperty('request_transforms');
    expect(inForce(id)).toEqual({ request: [], response: [] });
    const back = await api.put(`/proxies/${id}`, full());
    expect(back.body).toMatchObject({ response_transforms: forAnswers });
    expect(inForce(id)).toEqual({ request: forRequests, response: forAnswers });
  });

  it('stay under a PATCH that does not name them', async () => {
    const { id } = await made();
    expect((await api.patch(`/proxies/${id}`, {})).status).toBe(204);
    expect((await api.patch(`/proxies/${id}`, { name: 'New' })).status).toBe(204);
    expect(await read(id)).toMatchObject({ name: 'New', request_transforms: forRequests });
    expect(inForce(id)).toEqual({ request: forRequests, response: forAnswers });
  });

  it('are replaced as a whole list or removed by null, for request and response separately', async () => {
    const { id } = await made();
    const change = { request_transforms: [header], response_transforms: null };
    expect((await api.patch(`/proxies/${id}`, change)).status).toBe(204);
    expect(inForce(id)).toEqual({ request: [header], response: [] });
    expect((await api.patch(`/proxies/${id}`, { request_transforms: null })).status).toBe(204);
    expect(await read(id)).not.toHaveProperty('request_transforms');
  });

  it('may create tokens that expired in the past: only the calls fail', async () => {
    const token = { type: 'token', expires_at: '2020-01-01T00:00:00Z' };
    const step = { type: 'tokenize', options: { path: '$.a', token } };
    const { id } = await made({ ...full(), response_transforms: [step] });
    expect((await api.patch(`/proxies/${id}`, { name: 'New' })).status).toBe(204);
  });

  it('need an application if they tokenize, and a PATCH cannot remove it alone', async () => {
    const errors = { 'application.id': ['is required by a step that tokenizes'] };
    for (const side of ['request_transforms', 'response_transforms']) {
      const refused = await api.post('/proxies', { ...bare, [side]: [tokenize] });
      expect(refused.body).toMatchObject({ status: 400, errors });
    }
    const { id } = await made();
    const detached = await api.patch(`/proxies/${id}`, { application: null });
    expect(detached.body).toMatchObject({ status: 400, errors });
    const { id: without } = await made(bare);
    const added = await api.patch(`/proxies/${without}`, { response_transforms: [tokenize] });
    expect(added.body).toMatchObject({ status: 400, errors });
    expect(inForce(id)).toEqual({ request: forRequests, response: forAnswers });
  });

  it('need an application if a value of the request has an expression', async () => {
    const errors = { 'application.id': ['is required by a step that appends an expression'] };
    const filled = withValue('Bearer {{ stripe_key }}');
    const refused = await api.post('/proxies', { ...bare, request_transforms: [filled] });
    expect(refused.body).toMatchObject({ status: 400, errors });
    const { id } = await made({
      ...bare,
      application: full().application,
      request_transforms: [filled],
    });
    expect(inForce(id)?.request).toEqual([filled]);
    const detached = await api.patch(`/proxies/${id}`, { application: null });
    expect(detached.body).toMatchObject({ status: 400, errors });
    // In an answer it is text.
    const { id: plain } = await made({ ...bare, response_transforms: [filled] });
    expect(inForce(plain)?.response).toEqual([filled]);
  });

  it.each([
    withValue('Bearer {{ stripe_key | nothing }}'),
    withValue('{{ }}'),
    withValue("{{ key | hmac_body: 'md5' }}"),
    {
      type: 'append',
      options: { location: 'body', path: '$.a', value: ["{{ key | hmac_body: 'sha256' }}"] },
    },
  ])('are refused where an expression of the request cannot be read: %j', async (step) => {
    const refused = await api.post('/proxies', { ...full(), request_transforms: [step] });
    expect(refused.body).toMatchObject({
      status: 400,
      errors: { 'request_transforms.0.options.value': [expect.any(String)] },
    });
  });

  it('keep members named __proto__ or constructor through another change', async () => {
    const value = '{"__proto__":{"a":1},"constructor":2,"toJSON":3}';
    const step = `{"type":"append","options":{"location":"body","path":"$.__proto__","value":${value}}}`;
    const input = JSON.stringify({ ...bare, request_transforms: [] }).replace('[]', `[${step}]`);
    const created = await api.post('/proxies', input);
    const { id } = created.body as Proxy;
    expect((await api.patch(`/proxies/${id}`, { name: 'New' })).status).toBe(204);
    expect((await api.get(`/proxies/${id}`)).text).toContain(value);
    expect(JSON.stringify(inForce(id))).toContain(value);
  });

  it('keep the numbers of a value exactly or are refused', async () => {
    const step = (number: string): string =>
      JSON.stringify({ ...bare, request_transforms: [appended] }).replace('10.5', number);
    const refused = await api.post('/proxies', step('12345678901234567890'));
    expect(refused.body).toMatchObject({ status: 400, code: 'invalid_json' });
    expect((await api.post('/proxies', step('1234567890123456'))).status).toBe(201);
  });
});

const at = (member: string) => `request_transforms.0.${member}`;
const withOptions = (type: string, options: object) => ({ type, options });
const append = (options: object) => withOptions('append', { value: 'x', ...options });
const token = (members: object) =>
  withOptions('tokenize', { path: '$', token: { type: 'token', ...members } });

describe('POST /proxies refuses', () => {
  it.each([
    ['steps that are not a list', { type: 'mask' }, ['must be a list of objects']],
    ['steps that are not objects', ['mask'], ['must be a list of objects']],
    ['more than 20 steps', Array(21).fill(header), ['must have at most 20 entries']],
  ])('%s', async (_, request_transforms, messages) => {
    const refused = await api.post('/proxies', { ...bare, request_transforms });
    expect(refused.body).toMatchObject({ status: 400, code: 'validation_failed' });
    expect((refused.body as { errors: object }).errors).toEqual({ request_transforms: messages });
  });

  const long = (length: number) => 'x'.repeat(length);
  it.each([
    ['a step without a type', {}, 'type'],
    ['a type that is unknown', { type: 'toString', options: {} }, 'type'],
    ['a step without options', { type: 'mask' }, 'options'],
    ['a mask without an expression', withOptions('mask', { path: '$.a' }), 'options.expression'],
    [
      'a mask with a broken expression',
      withOptions('mask', { path: '$.a', expression: '{{ $.a | nothing }}' }),
      'options.expression',
    ],
    [
      'a mask over the data of a token',
      withOptions('mask', { path: '$.a', expression: '{{ data }}' }),
      'options.expression',
    ],
    [
      'a mask that is too long',
      withOptions('mask', { path: '$.a', expression: long(4_097) }),
      'options.expression',
    ],
    ['a path that is missing', withOptions('mask', { expression: 'x' }), 'options.path'],
    [
      'a path that is not a string',
      withOptions('mask', { path: ['$'], expression: 'x' }),
      'options.path',
    ],
    [
      'a path without its root',
      withOptions('mask', { path: 'card', expression: 'x' }),
      'options.path',
    ],
    [
      'a path with two descents',
      withOptions('mask', { path: '$..a..b', expression: 'x' }),
      'options.path',
    ],
    [
      'a path that is too long',
      withOptions('mask', { path: `$.${long(199)}`, expression: 'x' }),
      'options.path',
    ],
    [
      'detokenize that is on',
      withOptions('detokenize', { path: '$.a', enabled: true }),
      'options.enabled',
    ],
    [
      'a required step that says so in words',
      withOptions('mask', { path: '$.a', expression: 'x', required: 'true' }),
      'options.required',
    ],
    [
      'the same beside its type',
      { ...withOptions('mask', { path: '$.a', expression: 'x' }), required: 1 },
      'required',
    ],
    [
      'a required step that reads no path',
      append({ location: 'header', name: 'a', required: true }),
      'options.required',
    ],
    ['a token that is missing', withOptions('tokenize', { path: '$' }), 'options.token'],
    ['a token of an unknown type', token({ type: 'gold' }), 'options.token.type'],
    ['two containers', token({ containers: ['/a/', '/b/'] }), 'options.token.containers'],
    [
      'metadata with a value that is not a string',
      token({ metadata: { a: 1 } }),
      'options.token.metadata',
    ],
    ['a mask of a token that is broken', token({ mask: '{{ a' + ' }}' }), 'options.token.mask'],
    [
      'a fingerprint without an expression',
      token({ fingerprint_expression: 'a' }),
      'options.token.fingerprint_expression',
    ],
    [
      'a search index that is not a string',
      token({ search_indexes: [1] }),
      'options.token.search_indexes',
    ],
    [
      'a broken search index',
      token({ search_indexes: ['{{ data | a }}'] }),
      'options.token.search_indexes.0',
    ],
    [
      'deduplication that is not a boolean',
      token({ deduplicate_token: 'yes' }),
      'options.token.deduplicate_token',
    ],
    ['an expiry that is not a time', token({ expires_at: 'soon' }), 'options.token.expires_at'],
    ['a token that is too large', token({ mask: long(10_240) }), 'options.token'],
    ['an unknown location', append({ location: 'path', name: 'a' }), 'options.location'],
    ['a header without a name', append({ location: 'header' }), 'options.name'],
    ['a header with a space', append({ location: 'header', name: 'a b' }), 'options.name'],
    ['a header that is too long', append({ location: 'header', name: long(201) }), 'options.name'],
    [
      'a line break in a header',
      append({ location: 'header', name: 'a', value: 'a\r\nHost: b' }),
      'options.value',
    ],
    ['a NUL in a header', append({ location: 'header', name: 'a', value: '\0' }), 'options.value'],
    [
      'a header beyond Latin-1',
      append({ location: 'header', name: 'a', value: '日' }),
      'options.value',
    ],
    [
      'a value that is too long',
      append({ location: 'header', name: 'a', value: long(1_001) }),
      'options.value',
    ],
    [
      'a value of a query that is not a string',
      append({ location: 'query', name: 'a', value: 1 }),
      'options.value',
    ],
    [
      'half a surrogate pair in a query',
      append({ location: 'query', name: '\ud800' }),
      'options.name',
    ],
    [
      'the proxy key in a query',
      append({ location: 'query', name: 'Bt-Proxy-Key' }),
      'options.name',
    ],
    [
      'a body without a value',
      withOptions('append', { location: 'body', path: '$.a' }),
      'options.value',
    ],
    [
      'a body whose value is too large',
      append({ location: 'body', path: '$.a', value: long(10_240) }),
      'options.value',
    ],
    ['an append to an item', append({ location: 'body', path: '$.a[0]' }), 'options.path'],
    ['an append below every level', append({ location: 'body', path: '$..a' }), 'options.path'],
    [
      'the removal of the whole body',
      withOptions('remove', { location: 'body', path: '$' }),
      'options.path',
    ],
  ])('%s', async (_, step, member) => {
    const request_transforms = [step];
    const refused = await api.post('/proxies', {
      ...bare,
      application: { id: applicationId },
      request_transforms,
    });
    expect(refused.body).toMatchObject({ status: 400, code: 'validation_failed' });
    expect((refused.body as { errors: object }).errors).toEqual({ [at(member)]: [text] });
  });

  it.each([
    ...['Host', 'SVC-Api-Key', 'svc-anything', 'bt-trace-id', 'Connection', 'Keep-Alive'],
    ...['Proxy-Authorization', 'proxy-anything', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade'],
    ...['Expect', 'Content-Length', 'Content-Encoding', 'Forwarded', 'X-Forwarded-For', 'CDN-Loop'],
  ])('a step that appends or removes the header %s', async (name) => {
    const request_transforms = [append({ location: 'header', name })];
    const response_transforms = [withOptions('remove', { location: 'header', name })];
    const input = { ...bare, request_transforms, response_transforms };
    const refused = await api.post('/proxies', input);
    const messages = ['is not for a transform to change'];
    expect(refused.body).toMatchObject({ status: 400 });
    expect((refused.body as { errors: object }).errors).toEqual({
      'request_transforms.0.options.name': messages,
      'response_transforms.0.options.name': messages,
    });
  });

  it('steps of requests among those of answers, and reports all faults at once', async () => {
    const response_transforms = [
      detokenize,
      append({ location: 'query', name: 'a' }),
      header,
      withOptions('remove', { location: 'query', name: 'a' }),
    ];
    const refused = await api.post('/proxies', { ...bare, response_transforms });
    expect((refused.body as { errors: object }).errors).toEqual({
      'response_transforms.0.type': ['is for request_transforms alone'],
      'response_transforms.1.options.location': ['must be header, body'],
      'response_transforms.3.options.location': ['must be header, body'],
    });
  });
});
