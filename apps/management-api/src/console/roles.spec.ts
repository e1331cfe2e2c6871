import { roles, type Role } from '@glovebox/access';
import { waitFor } from '@glovebox/testing';
import { DataPlane } from '../runs/spec-data-plane';
import { rule, useTestApi } from '../spec-api';
import { nameOf, operations, urlOf, type Ids, type Operation } from '../spec-operations';
import { ask, signIn, type ConsoleAnswer } from './spec-console';

const api = useTestApi({ CONSOLE_PORT: '0' });
const secret = 'planted-0123456789';
const card = '4242424242424242';
const keys = {} as Record<Role, string>;
let ids: Ids;
let proxyKey: string;

beforeAll(async () => {
  for (const role of roles) keys[role] = await signIn(api, role);
  const application = await api.made('/applications', {
    name: 'a',
    type: 'private',
    permissions: ['token:read'],
  });
  const formula = await api.made('/reactor-formulas', {
    name: 'f',
    code: 'module.exports = () => 1',
    configuration: [{ name: 'API_KEY', type: 'string' }],
  });
  const reactor = await api.made('/reactors', {
    name: 'r',
    configuration: { API_KEY: secret },
    formula: { id: formula.id },
  });
  const proxy = await api.made<{ id: string; key: string }>('/proxies', {
    name: 'p',
    destination_url: 'https://example.com',
    configuration: { API_KEY: secret },
    request_transforms: [
      {
        type: 'append',
        options: { location: 'header', name: 'X-Key', value: secret },
      },
    ],
  });
  proxyKey = proxy.key;
  const data = new DataPlane(api.ctx, api.database.dataUrl);
  const { tenant_id: tenantId } = api.tenant;
  const run = await data.run(tenantId, {}, { resourceId: reactor.id, mode: 'async' });
  await data.call(tenantId, {}, run);
  await data.webhook(tenantId, {
    id: run,
    reactorId: reactor.id,
    ended: { status: 'delivered' },
  });
  await data.close();
  const item = { kind: 'proxy', slug: 'p', name: 'p', destination_url: 'https://example.com' };
  const deployed = (await api.post('/deployments', { items: [item] })).body as { id: string };
  ids = {
    deployment: deployed.id,
    application: application.id,
    key: (await api.made(`/applications/${application.id}/keys`, {})).id,
    formula: formula.id,
    reactor: reactor.id,
    run,
    proxy: proxy.id,
    token: await api.storedToken({ type: 'card', data: { number: card } }),
  };
});

const send = (operation: Operation, key: string, url: string): Promise<ConsoleAnswer> =>
  ask(api, `/api${url}`, {
    method: operation.method.toUpperCase(),
    key,
    ...(operation.body && { body: operation.body(ids) }),
    ...(operation.method === 'patch' && {
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  });

const reads =
  /^(?:GET \/(?!applications\/key|sessions|tenants\/self\/webhook-secret|reactors\/:id\/results|webhook-listeners|proxies\/:id\/captures)|POST \/(?:tokens\/search|detokenize|applications\/:id\/decisions)$)/;
const changesOfAuthors =
  /^(?:POST|PATCH|DELETE) \/(?:reactors|reactor-formulas|proxies|webhook-deliveries|runs)\b|^PUT \/reactor-formulas|\/captures/;
const never =
  /applications\/key|webhook-listeners|webhook-secret|\/results\/|^PUT \/(?:reactors|proxies)\/|^(?:POST|PATCH) \/tokens(?:\/:id)?$|tokenize$/;

/** The roles that each operation admits. */
function admitted(name: string): readonly Role[] {
  if (reads.test(name)) return roles;
  if (never.test(name)) return [];
  return changesOfAuthors.test(name) ? ['author', 'admin'] : ['admin'];
}

it('each operation admits the roles of this table, and nobody without a session', async () => {
  // Unknown ids: a permitted person gets 404 or 400, and nothing is changed.
  const elsewhere: Ids = {
    ...ids,
    key: '00000000-0000-4000-8000-000000000000',
  };
  for (const operation of operations) {
    const name = nameOf(operation);
    const url = urlOf(operation, elsewhere, '00000000-0000-4000-8000-000000000000');
    if (name === 'DELETE /tenants/self' || name === 'POST /applications') continue;
    const { status } = await ask(api, `/api${url}`, {
      method: operation.method.toUpperCase(),
    });
    expect([name, status]).toEqual([name, 401]);
    for (const role of roles) {
      const answer = await send(operation, keys[role], url);
      const isAdmitted = admitted(name).includes(role);
      expect([name, role, ![401, 403].includes(answer.status), answer.text]).toEqual([
        name,
        role,
        isAdmitted,
        answer.text,
      ]);
    }
  }
});

it('an admin makes applications and keys, and nobody else does', async () => {
  const body = { name: 'n', type: 'public', permissions: ['token:create'] };
  for (const role of roles) {
    const answer = await ask(api, '/api/applications', {
      method: 'POST',
      key: keys[role],
      body,
    });
    expect([role, answer.status]).toEqual([role, role === 'admin' ? 201 : 403]);
  }
});

it('no reading shows a role data, a key, a secret or a value of the configuration', async () => {
  for (const operation of operations.filter((each) => reads.test(nameOf(each)))) {
    for (const role of roles) {
      const name = nameOf(operation);
      const answer = await send(operation, keys[role], urlOf(operation, ids));
      // The run is one of a reactor.
      const status = name === 'GET /proxies/:id/runs/:run_id' ? 404 : 200;
      expect([name, role, answer.status]).toEqual([name, role, status]);
      for (const hidden of [card, secret, proxyKey, api.tenant.management_key]) {
        expect([name, role, answer.text.includes(hidden)]).toEqual([name, role, false]);
      }
    }
  }
  const shown = await ask(api, `/api/tokens/${ids.token}`, { key: keys.admin });
  expect(shown.body.data).toEqual({ number: 'XXXXXXXXXXXX4242' });
});

it('reactors and proxies say what is set, and PATCH changes one value and keeps the others', async () => {
  for (const path of [`/proxies/${ids.proxy}`, `/reactors/${ids.reactor}`]) {
    const { body } = await ask(api, `/api${path}`, { key: keys.author });
    expect([body.configuration, body.configuration_set]).toEqual([undefined, ['API_KEY']]);
    const patched = await ask(api, `/api${path}`, {
      method: 'PATCH',
      key: keys.author,
      body: { name: 'changed' },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect([path, patched.status, patched.text]).toEqual([path, 204, '']);
    const { body: kept } = await api.get(path);
    expect(kept).toMatchObject({
      name: 'changed',
      configuration: { API_KEY: secret },
    });
  }
  const { body } = await ask(api, `/api/proxies/${ids.proxy}`, {
    key: keys.author,
  });
  expect(body.request_transforms).toEqual([
    {
      type: 'append',
      options: { location: 'header', name: 'X-Key', value_set: true },
    },
  ]);
});

describe('a step that a person sends back with value_set and no value', () => {
  const append = (options: object) => ({ type: 'append', options });
  const header = (name: string, value: object) => append({ location: 'header', name, ...value });
  const shown = { value_set: true };
  const stored = [
    header('X-Key', { value: 'first' }),
    append({ location: 'query', name: 'X-Key', value: 'second' }),
    append({ location: 'body', path: '$.key', value: { of: 'the body' } }),
    header('X-Twice', { value: 'one' }),
    header('X-Twice', { value: 'two' }),
  ];
  let id: string;
  beforeAll(async () => {
    const destination_url = 'https://example.com';
    const document = {
      name: 'kept',
      destination_url,
      request_transforms: stored,
    };
    ({ id } = await api.made('/proxies', document));
  });
  const patch = (request_transforms: unknown, by: 'person' | 'key' = 'person') => {
    const body = { request_transforms };
    return by === 'key'
      ? api.patch(`/proxies/${id}`, body)
      : ask(api, `/api/proxies/${id}`, {
          method: 'PATCH',
          key: keys.author,
          body,
          headers: { 'content-type': 'application/merge-patch+json' },
        });
  };
  const now = async () =>
    ((await api.get(`/proxies/${id}`)).body as { request_transforms: object[] }).request_transforms;

  it('keeps what is stored at the same place, in any order and beside new steps', async () => {
    const { body } = await ask(api, `/api/proxies/${id}`, { key: keys.author });
    const [key, query, inBody, one, two] = body.request_transforms as object[];
    const changed = [inBody, header('X-New', { value: 'new' }), query, key, one, two];
    expect((await patch(changed)).status).toBe(204);
    const kept = [stored[2], header('X-New', { value: 'new' }), stored[1], stored[0]];
    expect(await now()).toEqual([...kept, stored[3], stored[4]]);
    const replaced = [header('X-Twice', { value: 'new one' }), two];
    expect((await patch(replaced)).status).toBe(204);
    expect(await now()).toEqual([header('X-Twice', { value: 'new one' }), stored[4]]);
    expect((await patch(stored)).status).toBe(204);
  });

  it.each([
    ['another header', header('X-Other', shown)],
    ['another place', append({ location: 'query', name: 'X-Other', ...shown })],
    ['another member', append({ location: 'body', path: '$.other', ...shown })],
    ['one of two places', header('X-Twice', shown)],
  ])('moves no value to %s', async (_, step) => {
    const refused = await patch([step]);
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      {
        'request_transforms.0.options.value': [expect.stringContaining('is required')],
      },
    ]);
    expect(await now()).toEqual(stored);
    const answers = await ask(api, `/api/proxies/${id}`, {
      method: 'PATCH',
      key: keys.author,
      body: { response_transforms: [header('X-Key', shown)] },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(answers.status).toBe(400);
  });

  it('is a step without a value for an application, which is shown the values', async () => {
    const refused = await patch([header('X-Key', shown)], 'key');
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { errors: { 'request_transforms.0.options.value': ['is required'] } },
    ]);
  });

  it('can be tried out, and needs the stored proxy for it', async () => {
    const rehearse = (more: object) =>
      ask(api, '/api/proxies/dry-runs', {
        method: 'POST',
        key: keys.author,
        body: {
          proxy: { request_transforms: [header('X-Key', shown)] },
          request: {},
          ...more,
        },
      });
    expect((await rehearse({ proxy_id: id })).status).toBe(503);
    expect((await rehearse({})).status).toBe(400);
  });
});

it('code acts for an author as no application that may do more than the author', async () => {
  const made = async (permissions: string[]) =>
    (
      await api.made('/applications', {
        name: 'a',
        type: 'private',
        permissions,
      })
    ).id;
  const plain = await made(['token:use', 'token:read', 'token:create']);
  const strong = await made(['token:use', 'token:delete', 'token:update']);
  const { body: reactor } = await api.get(`/reactors/${ids.reactor}`);
  const { formula } = reactor as { formula: { id: string } };
  const bodies = {
    '/api/reactors': { name: 'r', configuration: { API_KEY: secret }, formula },
    '/api/proxies': { name: 'p', destination_url: 'https://example.com' },
  };
  for (const [path, document] of Object.entries(bodies)) {
    const make = (application: string, role: Role) =>
      ask(api, path, {
        ...{ method: 'POST', key: keys[role] },
        body: { ...document, application: { id: application } },
      });
    const refused = await make(strong, 'author');
    expect([path, refused.status, refused.body]).toMatchObject([
      path,
      403,
      {
        code: 'permission_denied',
        detail: expect.stringContaining('token:delete') as string,
      },
    ]);
    expect((await make(plain, 'author')).status).toBe(201);
    const { status, body } = await make(strong, 'admin');
    expect([path, status]).toEqual([path, 201]);
    const patch = (change: object) =>
      ask(api, `${path}/${String(body.id)}`, {
        ...{ method: 'PATCH', key: keys.author, body: change },
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    // An admin has chosen it: it stays, also where it is sent again.
    const kept = { name: 'n', application: { id: strong } };
    expect([path, (await patch(kept)).status]).toEqual([path, 204]);
    expect((await patch({ application: { id: plain } })).status).toBe(204);
    expect((await patch({ application: { id: strong } })).status).toBe(403);
  }
});

it('what a person makes is theirs: author, audit line, call and idempotency key', async () => {
  const session = await ask(api, '/api/console/session', { key: keys.author });
  const { id } = session.body.person as { id: string };
  const post = (name: string) =>
    ask(api, '/api/proxies', {
      method: 'POST',
      key: keys.author,
      body: {
        name,
        destination_url: 'https://example.com',
        configuration: { A: secret },
      },
      headers: { 'SVC-IDEMPOTENCY-KEY': 'once', 'SVC-TRACE-ID': 'by-a-person' },
    });
  const [made, again] = [await post('mine'), await post('mine')];
  expect([made.status, again.status, again.body]).toEqual([201, 201, made.body]);
  expect((await post('other')).status).toBe(422);
  expect(made.body).toMatchObject({ created_by: id, configuration_set: ['A'] });
  expect(made.text).not.toContain(secret);

  const lines = await api.get(`/logs?entity_id=${made.body.id as string}`);
  expect(lines.body).toMatchObject({
    data: [
      {
        operation: 'proxy.create',
        actor_id: id,
        actor: { type: 'person', id, name: 'operator (author)' },
      },
    ],
  });
  const lineOf = await api.get(`/logs?entity_id=${ids.proxy}&operation=proxy.create`);
  expect(lineOf.body).toMatchObject({
    data: [{ actor: { type: 'application', name: 'Tenant management' } }],
  });

  let calls = '';
  await waitFor(async () => {
    calls = (await api.get('/calls?trace_id=by-a-person')).text;
    return calls.includes('"status":422');
  });
  expect(calls).toContain('"path":"/proxies"');
  expect(calls).not.toContain('application_id');
});

describe('a reveal', () => {
  const reveal = (body: object, role: Role = 'admin') =>
    ask(api, '/api/console/reveals', { method: 'POST', key: keys[role], body });

  it('needs an application that a rule reveals the token to, and a reason that the log keeps', async () => {
    const asked = {
      token_id: ids.token,
      reason: 'A customer asks about order 7',
    };
    const refused = await reveal(asked);
    expect([refused.status, refused.body]).toMatchObject([403, { code: 'permission_denied' }]);
    await api.keyWith('private', [], [rule('mask', '/', ['token:read'], 1), rule('reveal')]);
    expect((await reveal(asked)).status).toBe(403);
    await api.keyWith('private', [], [rule('reveal', '/pci/')]);
    const shown = await reveal(asked);
    expect([shown.status, shown.body]).toEqual([
      200,
      {
        id: ids.token,
        type: 'card',
        data: { number: card },
        shown_seconds: 60,
      },
    ]);
    expect(shown.headers['cache-control']).toBe('no-store');
    const { body } = await api.get(`/logs?entity_id=${ids.token}&operation=token.reveal`);
    const { reason } = asked;
    expect((body as { data: object[] }).data).toMatchObject([
      {
        outcome: 'success',
        reason,
        actor: { type: 'person', name: 'operator' },
      },
      { outcome: 'refused', reason },
      { outcome: 'refused', reason },
    ]);
    const used = await api.get(`/logs?entity_id=${ids.token}&operation=token.read`);
    expect(used.body).toMatchObject({ data: [{ token_ids: [ids.token] }] });
  });

  it('shows nothing of a token that moves to another container meanwhile', async () => {
    const id = await api.storedToken({ type: 'card', data: { number: card } });
    const move = 'UPDATE tokens SET container = $2 WHERE id = $1';
    await api.admin.query(move, [id, '/a/']);
    const masked = rule('mask', '/a/b/', ['token:read'], 1);
    await api.keyWith('private', [], [masked, rule('reveal', '/a/')]);
    let asked: Promise<ConsoleAnswer> | undefined;
    await api.admin.transaction(async (sql) => {
      // The reveal has read the token, and waits here to decide about its container.
      await sql.query('LOCK TABLE applications');
      asked = reveal({ token_id: id, reason: 'why' });
      await waitFor(async () => {
        const waiting = await api.admin.query(
          `SELECT 1 FROM pg_locks WHERE relation = 'applications'::regclass AND NOT granted`,
        );
        return waiting.length > 0;
      });
      await sql.query(move, [id, '/a/b/']);
    });
    const answer = await asked;
    expect([answer?.status, answer?.body]).toMatchObject([403, { code: 'permission_denied' }]);
    expect(answer?.text).not.toContain(card);
    expect((await reveal({ token_id: id, reason: 'why' })).status).toBe(403);
  });

  it('is open to an admin alone', async () => {
    const asked = { token_id: ids.token, reason: 'why' };
    expect((await reveal(asked, 'author')).status).toBe(403);
    expect((await reveal(asked, 'viewer')).status).toBe(403);
  });

  it.each([
    [{ token_id: 'none', reason: 'why' }, 404],
    [{ token_id: 'x' }, 400],
    [{ token_id: 'x', reason: '' }, 400],
    [{ token_id: 'x', reason: '   ' }, 400],
    [{ token_id: 'x', reason: 'x'.repeat(501) }, 400],
    [{ reason: 'why' }, 400],
  ])('is refused as %j', async (body, status) => {
    expect((await reveal(body)).status).toBe(status);
  });

  it('is possible ten times a minute for a person', async () => {
    const statuses: number[] = [];
    for (let nth = 0; nth < 12; nth += 1) {
      statuses.push((await reveal({ token_id: 'none', reason: 'why' })).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });
});
