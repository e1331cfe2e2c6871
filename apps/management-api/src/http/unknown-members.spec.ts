import { randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import { useTestApi } from '../spec-api';

const api = useTestApi({ HEADER_PREFIXES: 'SVC,BT' });

const proxy = { name: 'p', destination_url: 'https://example.com' };
const formula = { name: 'f', code: 'module.exports = () => 1' };
const strict = { 'SVC-STRICT': 'true' };
const token = { type: 'token', data: 'x' };

const namedBy = async (test: Test): Promise<unknown> =>
  ((await test).headers as Record<string, unknown>)['svc-unknown-members'];

describe('the answer to a body with members that nothing reads', () => {
  it('names them, whatever its status', async () => {
    const made = await api.post('/proxies', { ...proxy, nmae: 'x', conatiner: 'y' });
    expect(made.status).toBe(201);
    expect(made.headers).toMatchObject({
      'svc-unknown-members': 'nmae, conatiner',
      'bt-unknown-members': 'nmae, conatiner',
    });
    const { id } = made.body as { id: string };
    const patched = await api.patch(`/proxies/${id}`, { nmae: 'x' });
    expect([patched.status, patched.headers['svc-unknown-members']]).toEqual([204, 'nmae']);
    const refused = await api.post('/proxies', { nmae: 'x' });
    expect([refused.status, refused.headers['svc-unknown-members']]).toEqual([400, 'nmae']);
  });

  it('has no such header where all are known', async () => {
    expect(await namedBy(api.post('/proxies', { ...proxy, configuration: { a: 'b' } }))).toBe(
      undefined,
    );
  });

  it.each([
    ['/reactor-formulas', { ...formula, request_parameters: [{ name: 'a', type: 'string' }] }],
    ['/applications', { name: 'a', type: 'private', permissions: ['token:use'] }],
    ['/tenants/self', { name: 't' }],
  ])('knows every member that PUT %s takes', async (path, body) => {
    const { id } = path === '/tenants/self' ? { id: '' } : await api.made(path, body);
    expect(await namedBy(api.put(`${path}/${id}`, body).set(strict))).toBe(undefined);
  });

  it('names members by their path, and none below those of the caller', async () => {
    const steps = [
      {
        type: 'mask',
        options: { path: '$.a', expression: '{{ @ }}', location: 'body' },
      },
      { type: 'append', options: { location: 'body', path: '$.a', value: { any: 1 } }, when: 1 },
    ];
    const body = {
      ...proxy,
      application: { idd: '1' },
      configuration: { any: 'x' },
      request_transform: { code: 'module.exports = 1', lang: 'js' },
      request_transforms: steps,
    };
    expect(await namedBy(api.post('/proxies', body))).toBe(
      'application.idd, request_transform.lang, options.location, request_transforms.1.when'.replace(
        'options.location',
        'request_transforms.0.options.location',
      ),
    );
    const rules = [{ priority: 1, container: '/', transform: 'mask', permissions: [], prio: 1 }];
    expect(await namedBy(api.post('/applications', { rules }))).toBe('rules.0.prio');
    const ofFormula = { ...formula, configuration: [{ any: 1 }], request_parameters: [{ opt: 1 }] };
    expect(await namedBy(api.post('/reactor-formulas', ofFormula))).toBe(
      'request_parameters.0.opt',
    );
    const ofToken = { data: { a: 1 }, mask: { b: 2 }, metadata: { c: '3' }, metdata: {} };
    expect(await namedBy(api.post('/tokens', ofToken, api.tenant.private_key))).toBe('metdata');
  });

  it('names those of items of a deployment, by the kind of each', async () => {
    const items = [
      { kind: 'application', slug: 'a', name: 'a', type: 'private', rules: [{ prio: 1 }] },
      { kind: 'reactor', slug: 'r', name: 'r', formula: { ...formula, lang: 'js' } },
      {
        ...{ kind: 'proxy', slug: 'p', ...proxy, formula, permissions: [] },
        response_transforms: [{ type: 'mask', options: { path: '$', expression: 'x' }, when: 1 }],
      },
      { kind: 'of another release', anything: 1 },
    ];
    const named = [
      ...['items.0.rules.0.prio', 'items.1.formula.lang', 'items.2.formula'],
      ...['items.2.permissions', 'items.2.response_transforms.0.when', 'items.3.anything'],
    ];
    expect(await namedBy(api.post('/deployments', { items }))).toBe(named.join(', '));
  });

  it('cuts a path that is longer than a name may be from its beginning', async () => {
    const options = { path: '$.a', token: { containers: ['/a/'], contaniers: ['/b/'] } };
    const body = { ...proxy, response_transforms: [{ type: 'tokenize', options }] };
    expect(await namedBy(api.post('/proxies', body))).toBe('0.options.token.contaniers');
  });

  it('names ten members of a plain form, and counts the others', async () => {
    const odd = { 'a b': 1, 'n\r\nSet-Cookie: a=b': 1, ['x'.repeat(41)]: 1, ü: 1 };
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`m${at}`, 1]));
    const first = Array.from({ length: 10 }, (_, at) => `m${at}`).join(', ');
    expect(await namedBy(api.post('/proxies', { ...odd, ...many }))).toBe(`${first}, +6`);
    expect(await namedBy(api.post('/proxies', odd))).toBe('+4');
  });

  it('names none that may be a number of a card or a key', async () => {
    const { private_key: key } = api.tenant;
    const misplaced = { '4242424242424242': 1, '4242-4242-4242-4242': 1, [key]: 1, nmae: 1 };
    expect(await namedBy(api.post('/proxies', { ...proxy, ...misplaced }))).toBe('nmae, +3');
    const strict = await api.post('/proxies', { ...proxy, ...misplaced }).set('SVC-STRICT', 'true');
    expect(strict.body).toMatchObject({
      errors: { body: ['has 3 more members that are not known'] },
    });
    expect(strict.text).not.toMatch(/4242|key_/);
  });

  it('comes again with a repeated answer', async () => {
    const once = () =>
      api.post('/proxies', { ...proxy, nmae: 1 }).set('SVC-IDEMPOTENCY-KEY', 'once');
    expect([await namedBy(once()), await namedBy(once())]).toEqual(['nmae', 'nmae']);
  });

  it('names members of tokens in a document, and no others of it', async () => {
    const document = { any: 'x', cards: [{ type: 'token', data: { b: 1 }, metdata: { a: 'b' } }] };
    const key = api.tenant.private_key;
    expect(await namedBy(api.post('/tokenize', document, key))).toBe('cards.0.metdata');
    expect(await namedBy(api.post('/detokenize', document, key))).toBe(undefined);
  });

  it('names them to a POST that takes nothing', async () => {
    const { id } = await api.made('/applications', {
      name: 'a',
      type: 'public',
      permissions: ['token:create'],
    });
    expect(await namedBy(api.post(`/applications/${id}/keys`, { name: 'second' }))).toBe('name');
  });

  it('costs little for as many as a body may hold', async () => {
    const rules = Array.from({ length: 100 }, () => ({}));
    const members = Object.fromEntries(Array.from({ length: 9_900 }, (_, at) => [`m${at}`, 1]));
    const before = process.cpuUsage();
    const answer = await api.post('/applications', { ...members, rules });
    const { user, system } = process.cpuUsage(before);
    expect(answer.headers['svc-unknown-members']).toMatch(/^m0, .*, \+9890$/);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});

describe('SVC-STRICT', () => {
  it('refuses members that nothing reads, and names those that were meant', async () => {
    const body = { ...proxy, nmae: 'x', colour: 'y', request_transform: { cdoe: 'z' } };
    expect(await api.post('/proxies', body).set('BT-STRICT', 'true')).toMatchObject({
      status: 400,
      headers: { 'svc-unknown-members': 'nmae, colour, request_transform.cdoe' },
      body: {
        code: 'validation_failed',
        errors: {
          nmae: ['is not a member; did you mean name?'],
          colour: ['is not a member'],
          'request_transform.cdoe': ['is not a member; did you mean code?'],
        },
      },
    });
    const odd = { ...proxy, nmae: 1, 'a b': 1, 'c d': 1 };
    expect(await api.post('/proxies', odd).set(strict)).toMatchObject({
      status: 400,
      body: {
        errors: {
          nmae: ['is not a member; did you mean name?'],
          body: ['has 2 more members that are not known'],
        },
      },
    });
  });

  it('refuses them in the body of a DELETE', async () => {
    const unnamed = api.delete('/tenants/self').set(strict).send({ nmae: 'x' });
    expect(await unnamed).toMatchObject({
      status: 400,
      headers: { 'svc-unknown-members': 'nmae' },
      body: { errors: { nmae: ['is not a member; did you mean name?'] } },
    });
    const other = await api.delete('/tenants/self').set(strict).send({ name: 'Other' });
    expect(other).toMatchObject({ status: 400, body: { errors: { name: [expect.any(String)] } } });
  });

  it('knows `required` of a step, in both of its places', async () => {
    const options = { path: '$.a', expression: 'x' };
    const steps = [
      { type: 'mask', required: true, options },
      { type: 'mask', options: { ...options, required: true } },
      { type: 'remove', required: true, options: { location: 'body', path: '$.a' } },
    ];
    const made = await api.post('/proxies', { ...proxy, request_transforms: steps }).set(strict);
    expect([made.status, made.headers['svc-unknown-members']]).toEqual([201, undefined]);
  });

  it('knows `value_set` of a step where a stored value may be kept, and nowhere else', async () => {
    const append = (options: object, value: unknown) => ({
      type: 'append',
      options: { ...options, ...(value === undefined ? { value_set: true } : { value }) },
    });
    const inHeader = { location: 'header', name: 'X-Key' };
    const inBody = { location: 'body', path: '$.key' };
    const withSteps = (ofQuery?: string, ofHeader?: string, ofBody?: object) => ({
      ...proxy,
      request_transforms: [
        append({ location: 'query', name: 'key' }, ofQuery),
        append(inHeader, ofHeader),
        append(inBody, ofBody),
      ],
      response_transforms: [append(inHeader, ofHeader), append(inBody, ofBody)],
    });
    const item = { kind: 'proxy', slug: 'kept-steps' };
    const deploy = (document: object) =>
      api.post('/deployments', { items: [{ ...item, ...document }] }).set(strict);
    const made = await deploy(withSteps('a', 'b', { of: 'c' }));
    const again = await deploy(withSteps());
    expect([made.status, again.status, again.body]).toMatchObject([
      200,
      200,
      { changes: [{ slug: 'kept-steps', change: 'unchanged' }] },
    ]);
    const [{ id }] = (made.body as { changes: [{ id: string }] }).changes;
    const dryRun = { proxy: withSteps(), proxy_id: id, request: { body: '{}' } };
    // No gateway carries it out here.
    expect((await api.post('/proxies/dry-runs', dryRun).set(strict)).status).toBe(503);
    const put = await api.put(`/proxies/${id}`, withSteps()).set(strict);
    expect([put.status, Object.keys((put.body as { errors: object }).errors)]).toEqual([
      400,
      [
        ...[0, 1, 2].map((at) => `request_transforms.${at}.options.value_set`),
        ...[0, 1].map((at) => `response_transforms.${at}.options.value_set`),
      ],
    ]);
  });

  it('changes nothing where all members are known, or with false', async () => {
    expect((await api.post('/proxies', proxy).set(strict)).status).toBe(201);
    const lax = await api.post('/proxies', { ...proxy, nmae: 1 }).set('SVC-STRICT', 'false');
    expect(lax.status).toBe(201);
  });

  it.each(['', 'yes', 'TRUE', '1'])('is 400 with the value "%s"', async (value) => {
    expect(await api.post('/proxies', proxy).set('SVC-STRICT', value)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', detail: 'The header SVC-STRICT must be true or false.' },
    });
  });

  it('refuses a PATCH, which then changes nothing', async () => {
    const { id } = await api.made('/tokens', token, api.tenant.private_key);
    const patch = { metadata: { a: 'b' }, deduplicate_tokn: true };
    const answer = await api.patch(`/tokens/${id}`, patch, api.tenant.private_key).set(strict);
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: { deduplicate_tokn: [expect.any(String)] } },
    });
    const { body } = await api.get(`/tokens/${id}`, api.tenant.private_key);
    expect(body).not.toHaveProperty('metadata');
  });

  it('lets what GET answers be sent back by PUT and PATCH', async () => {
    const { id: formulaId } = await api.made('/reactor-formulas', formula);
    const { id: application } = await api.made('/applications', {
      name: 'a',
      type: 'private',
      rules: [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:use'] }],
    });
    const made = [
      ['/reactor-formulas', formulaId],
      ['/applications', application],
      [
        '/reactors',
        (
          await api.made('/reactors', {
            ...{ name: 'r', configuration: {}, formula: { id: formulaId } },
            application_id: application,
          })
        ).id,
      ],
      [
        '/proxies',
        (
          await api.made('/proxies', {
            ...proxy,
            request_transform: { code: 'module.exports = 1' },
            request_transforms: [{ type: 'remove', options: { location: 'query', name: 'a' } }],
          })
        ).id,
      ],
    ];
    for (const [path, id] of [...made, ['/tenants', 'self']]) {
      const { body } = await api.get(`${path}/${id}`);
      const put = await api.put(`${path}/${id}`, body).set(strict);
      expect([path, put.status, put.headers['svc-unknown-members']]).toEqual([
        path,
        200,
        undefined,
      ]);
      if (path === '/tenants') continue;
      const again = await api.put(`${path}/${id}`, put.body).set(strict);
      const patch = await api.patch(`${path}/${id}`, body).set(strict);
      expect([path, again.status, patch.status]).toEqual([path, 200, 204]);
    }
    const id = await api.storedToken(token);
    const { body } = await api.get(`/tokens/${id}`, api.tenant.private_key);
    const patch = await api.patch(`/tokens/${id}`, body, api.tenant.private_key).set(strict);
    expect([patch.status, patch.headers['svc-unknown-members']]).toEqual([200, undefined]);
  });
});

it('refuses an unknown member in the filter of a replay, strict or not', async () => {
  const filter = { reactorid: randomUUID() };
  expect(await api.post('/webhook-deliveries/replay', { filter })).toMatchObject({
    status: 400,
    headers: { 'svc-unknown-members': 'filter.reactorid' },
    body: { errors: { 'filter.reactorid': ['is not a member; did you mean reactor_id?'] } },
  });
  const lax = await api.post('/webhook-deliveries/replay', { filter: {}, limt: 1 });
  expect([lax.status, lax.headers['svc-unknown-members']]).toEqual([202, 'limt']);
});
