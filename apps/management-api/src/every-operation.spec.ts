import { randomUUID } from 'node:crypto';
import { mayHold, permissions, type Permission } from '@glovebox/access';
import { nameOf, operations, urlOf, type Ids, type Operation } from './spec-operations';
import { DataPlane } from './runs/spec-data-plane';
import { useTestApi } from './spec-api';

const api = useTestApi();
let base: string;
let ids: Ids;
const noIds: Ids = {
  application: '',
  key: '',
  formula: '',
  reactor: '',
  proxy: '',
  token: '',
  run: '',
  deployment: '',
};

beforeAll(async () => {
  base = `http://127.0.0.1:${api.port}`;
  ids = await makeResources();
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(
  { method }: Operation,
  url: string,
  options: { key?: string; body?: string | Buffer; type?: string },
): Promise<Answer> {
  const type = method === 'patch' ? 'application/merge-patch+json' : 'application/json';
  const answer = await fetch(base + url, {
    method: method.toUpperCase(),
    headers: {
      ...(options.key === undefined ? {} : { 'SVC-API-KEY': options.key }),
      ...(method === 'get' || method === 'delete' ? {} : { 'Content-Type': options.type ?? type }),
    },
    ...(options.body === undefined ? {} : { body: options.body }),
  });
  return { status: answer.status, text: await answer.text() };
}

const bodyOf = (operation: Operation): string | undefined =>
  operation.body && JSON.stringify(operation.body(ids));

async function makeResources(): Promise<Ids> {
  const made = async (path: string, body: object, key?: string): Promise<string> => {
    const answer = await api.post(path, body, key);
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    return (answer.body as { id: string }).id;
  };
  const app = { name: 'a', type: 'public', permissions: ['token:create'] };
  const application = await made('/applications', app);
  const formula = await made('/reactor-formulas', { name: 'f', code: 'module.exports = () => 1' });
  const reactor = await made('/reactors', {
    name: 'r',
    configuration: {},
    formula: { id: formula },
  });
  const data = new DataPlane(api.ctx, api.database.dataUrl);
  const { tenant_id: tenantId } = api.tenant;
  const run = await data.run(tenantId, {}, { resourceId: reactor, mode: 'async' });
  await data.call(tenantId, {}, run);
  await data.webhook(tenantId, { id: run, reactorId: reactor, ended: { status: 'delivered' } });
  await data.close();
  const proxy = await made('/proxies', { name: 'p', destination_url: 'https://example.com' });
  const item = { kind: 'proxy', slug: 'p', name: 'p', destination_url: 'https://example.com' };
  const deployed = (await api.post('/deployments', { items: [item] })).body as { id: string };
  return {
    application,
    key: await made(`/applications/${application}/keys`, {}),
    formula,
    reactor,
    run,
    proxy,
    deployment: deployed.id,
    token: await made('/tokens', { type: 'token', data: 1 }, api.tenant.private_key),
  };
}

/** Counts the rows of the customers' resources. */
async function countRows(): Promise<unknown> {
  const [row] = await api.admin.query(
    `SELECT (SELECT version FROM definition_head) AS version,
       (SELECT count(*) FROM applications) AS applications,
       (SELECT count(*) FROM application_keys) AS keys,
       (SELECT count(*) FROM reactor_formulas) AS formulas,
       (SELECT count(*) FROM reactors) AS reactors,
       (SELECT count(*) FROM proxies) AS proxies,
       (SELECT count(*) FROM tokens) AS tokens,
       (SELECT count(*) FROM webhook_deliveries) AS webhooks,
       (SELECT string_agg(name, ',') FROM tenants) AS tenants`,
  );
  return row;
}

function expectProblem({ status, text }: Answer): void {
  const body = JSON.parse(text) as Record<string, unknown>;
  expect(body).toMatchObject({
    status,
    title: expect.any(String) as string,
    code: expect.any(String) as string,
  });
}

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

it('the routes of the application are exactly these operations', () => {
  const express = api.app.getHttpAdapter().getInstance() as unknown as {
    router: { stack: Layer[] };
  };
  const routes = express.router.stack.flatMap(({ route }) =>
    route && !/^\/(?:docs|console)/.test(route.path)
      ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`)
      : [],
  );
  expect([...new Set(routes)].sort()).toEqual(operations.map(nameOf).sort());
});

describe('without a valid key', () => {
  it.each(operations.map((operation) => [nameOf(operation), operation] as const))(
    '%s answers 401',
    async (_, operation) => {
      for (const options of [{}, { key: 'nonsense' }, { key: `key_${'0'.repeat(33)}` }]) {
        const answer = await send(operation, urlOf(operation, ids), options);
        expect(answer.status).toBe(401);
        expectProblem(answer);
      }
    },
  );
});

describe('a key with one permission alone', () => {
  const keys = new Map<Permission, string>();
  beforeAll(async () => {
    for (const permission of permissions) {
      const type = mayHold('private', permission) ? 'private' : 'management';
      keys.set(permission, await api.keyWith(type, [permission]));
    }
  });

  it.each(operations.map((operation) => [nameOf(operation), operation] as const))(
    'may call %s only with the required permission',
    async (_, operation) => {
      for (const [permission, key] of keys) {
        // The id does not exist, so a permitted caller gets 404.
        const url = urlOf(operation, { ...ids, key: randomUUID() }, randomUUID());
        const allowed = operation.permission === null || operation.permission === permission;
        if (allowed && !operation.path.includes(':id')) continue;
        const answer = await send(operation, url, { key });
        expect([permission, answer.status]).toEqual([permission, allowed ? 404 : 403]);
        expectProblem(answer);
      }
    },
  );

  it('has a use for every permission', () => {
    const opening = new Set(operations.map(({ permission }) => permission));
    const closed = permissions.filter((permission) => !opening.has(permission));
    expect(closed).toEqual([]);
    expect(
      [...opening].every((name) => name === null || permissions.some((one) => one === name)),
    ).toBe(true);
  });
});

describe('for another tenant', () => {
  it.each(
    operations
      .filter(({ path }) => path.includes(':id'))
      .map((operation) => [nameOf(operation), operation] as const),
  )('%s answers 404, as for an unknown id', async (_, operation) => {
    const before = await countRows();
    const key = operation.permission?.startsWith('token:')
      ? api.foreign.private_key
      : api.foreign.management_key;
    const body = bodyOf(operation);
    const options = { key, ...(body === undefined ? {} : { body }) };
    const foreign = await send(operation, urlOf(operation, ids), options);
    const unknown = await send(operation, urlOf(operation, ids, randomUUID()), options);
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    expect(await countRows()).toEqual(before);
  });

  it.each(
    operations
      .filter(({ method, path }) => method === 'get' && /^\/[a-z-]+$/.test(path))
      .filter(({ path }) => !['/permissions', '/logs'].includes(path))
      .map((operation) => [nameOf(operation), operation] as const),
  )('%s shows nothing of other tenants', async (_, operation) => {
    const { text } = await send(operation, operation.path, { key: api.foreign.management_key });
    for (const id of Object.values(ids)) expect(text).not.toContain(id);
  });
});

describe('given bad input', () => {
  const writes = operations.filter(({ body }) => body !== undefined);
  const keyFor = ({ permission }: Operation): string =>
    permission?.startsWith('token:') ? api.tenant.private_key : api.tenant.management_key;
  const withMember = (operation: Operation, json: string): string => {
    const text = bodyOf(operation) ?? '';
    return `${text.slice(0, -1)},${json}}`;
  };

  /** A deployment may be as large as all others together. */
  const moreThanTaken = ({ path }: Operation): number =>
    (path === '/deployments' ? 16 : 10) * 1024 * 1024;

  const bodies: readonly [string, (operation: Operation) => string | Buffer, number][] = [
    ['nothing', () => '', 400],
    ['half a document', () => '{"name":', 400],
    ['a list', () => '[]', 400],
    ['a string', () => '"x"', 400],
    ['null', () => 'null', 400],
    ['duplicate members', (op) => withMember(op, '"x":1,"x":2'), 400],
    ['__proto__', (op) => withMember(op, '"__proto__":{"name":"x"}'), 400],
    ['constructor', (op) => withMember(op, '"constructor":{}'), 400],
    ['depth 1,000', (op) => withMember(op, `"x":${'['.repeat(1000)}${']'.repeat(1000)}`), 400],
    ['half a surrogate pair', (op) => withMember(op, '"x":"\\ud800"'), 400],
    ['bytes that are not UTF-8', () => Buffer.from('{"name":"\xff"}', 'latin1'), 400],
    ['too much', (op) => withMember(op, `"x":"${'x'.repeat(moreThanTaken(op))}"`), 413],
  ];

  const named = writes.map((operation) => [nameOf(operation), operation] as const);

  it.each(named)('%s refuses each malformed body clearly and stores nothing', async (_, op) => {
    const before = await countRows();
    for (const [what, body, status] of bodies) {
      // An empty patch is valid and changes nothing.
      if (what === 'nothing' && op.method === 'patch') continue;
      const answer = await send(op, urlOf(op, ids), { key: keyFor(op), body: body(op) });
      expect([what, answer.status, answer.text]).toEqual([what, status, answer.text]);
      expectProblem(answer);
    }
    expect(await countRows()).toEqual(before);
  });

  it.each(named)('%s names each member of a wrong type', async (_, op) => {
    const before = await countRows();
    const good = op.body?.(ids) ?? {};
    for (const [member, value] of Object.entries(good)) {
      // A token's data may be any JSON.
      if (member === 'data') continue;
      for (const wrong of [typeof value === 'object' ? 'text' : { not: 'this' }, 5, true, [[]]]) {
        const body = JSON.stringify({ ...good, [member]: wrong });
        const answer = await send(op, urlOf(op, ids), { key: keyFor(op), body });
        expect([member, wrong, answer.status]).toEqual([member, wrong, 400]);
        const { errors } = JSON.parse(answer.text) as { errors?: Record<string, unknown> };
        const paths = Object.keys(errors ?? {});
        expect(paths.some((path) => path.split('.')[0] === member)).toBe(true);
      }
    }
    expect(await countRows()).toEqual(before);
  });

  it.each(named.filter(([, op]) => 'name' in (op.body?.(noIds) ?? {})))(
    '%s refuses a name of 201 characters, an empty one and one with NUL',
    async (_, op) => {
      const before = await countRows();
      const good = op.body?.(ids) ?? {};
      for (const name of ['x'.repeat(201), '', 'a\0b', null]) {
        const body = JSON.stringify({ ...good, name });
        const answer = await send(op, urlOf(op, ids), { key: keyFor(op), body });
        expect([name, answer.status]).toEqual([name, 400]);
        expect(answer.text).toContain('"name":[');
      }
      expect(await countRows()).toEqual(before);
    },
  );

  it.each(named)('%s answers a wrong media type with 415', async (_, op) => {
    const body = bodyOf(op) ?? '';
    for (const type of ['text/plain', 'application/xml', 'application/json-patch+json']) {
      const answer = await send(op, urlOf(op, ids), { key: keyFor(op), body, type });
      expect([type, answer.status]).toEqual([type, 415]);
      expectProblem(answer);
    }
  });

  it.each(
    operations
      .filter(({ path }) => path.includes(':id') && !path.startsWith('/tokens'))
      .map((operation) => [nameOf(operation), operation] as const),
  )('%s answers a malformed id with 404', async (_, op) => {
    for (const id of ['1', 'null', '%00', '..%2f', "'%20or%201=1", 'x'.repeat(500)]) {
      const answer = await send(op, urlOf(op, ids, id), { key: keyFor(op) });
      expect([id, [400, 404].includes(answer.status)]).toEqual([id, true]);
      expectProblem(answer);
    }
  });
});
