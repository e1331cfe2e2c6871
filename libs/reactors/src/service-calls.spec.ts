import { randomUUID } from 'node:crypto';
import type { AccessRule, Permission, Principal } from '@glovebox/access';
import { connectDatabase } from '@glovebox/database';
import { Reach } from '@glovebox/vault';
import { serviceCalls } from './service-calls';
import { SpecInvocations } from './spec-invocations';

const tenantId = randomUUID();
const logged: object[] = [];
const logger = { error: (fields: object) => logged.push(fields) };
let spec: SpecInvocations;

beforeAll(async () => {
  spec = await SpecInvocations.open();
});
afterAll(() => spec.close());

const everything: Permission[] = ['token:create', 'token:read', 'token:update', 'token:delete'];

/** The calls of code whose application has these permissions and sees the data. */
function svcOf(
  permissions: Permission[],
  container = '/',
): (name: string, ...params: unknown[]) => Promise<unknown> {
  const rule: AccessRule = {
    description: '',
    priority: 1,
    container,
    transform: 'reveal',
    permissions,
  };
  const application: Principal = {
    actorId: randomUUID(),
    tenantId,
    type: 'private',
    permissions: [],
    rules: [rule],
  };
  return (name, ...params) =>
    serviceCalls(
      { ...spec.context, logger },
      () => Promise.resolve(application),
      'trace',
      new Reach(),
    )(`svc.${name}`, params);
}

const svc = svcOf(everything);
const create = async (token: object): Promise<{ id: string }> =>
  (await svc('tokens.create', token)) as { id: string };

it('code creates, reads, updates, lists and deletes a token', async () => {
  const { id } = await create({ type: 'token', data: { a: 1 }, metadata: { run: 'life' } });
  expect(await svc('tokens.retrieve', id)).toMatchObject({ id, data: { a: 1 } });
  expect(await svc('tokens.update', id, { data: { b: 2 } })).toMatchObject({
    data: { a: 1, b: 2 },
  });
  expect(await svc('tokens.list', { metadata: { run: 'life' } })).toMatchObject({
    pagination: { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 },
    data: [{ id, data: { a: 1, b: 2 } }],
  });
  expect(await svc('tokens.list', { id: [id], type: 'card' })).toMatchObject({ data: [] });
  expect(await svc('tokens.delete', id)).toBeUndefined();
  await expect(svc('tokens.retrieve', id)).rejects.toMatchObject({ status: 404 });
});

it('code tokenizes and detokenizes documents', async () => {
  const tokens = (await svc('tokenize', { a: 'x', b: [null, 7] })) as { a: string; b: string[] };
  const back = await svc('detokenize', { a: `<{{ ${tokens.a} }}>`, b: `{{ ${tokens.b[1]} }}` });
  expect(back).toEqual({ a: '<x>', b: 7 });
  expect(await svc('detokenize', ['plain', null])).toEqual(['plain', null]);
});

it.each(['tokenize', 'detokenize'])(
  'svc.%s refuses a document of too many values',
  async (name) => {
    const document = Array.from({ length: 100_000 }, () => []);
    await expect(svc(name, document)).rejects.toMatchObject({ status: 400 });
  },
);

it.each<[string, object]>([
  ['expires_at', { data: 1, expires_at: '2099-02-30T00:00:00Z' }],
  ['expires_at', { data: 1, expires_at: 4_102_444_800_000 }],
  ['data.number', { type: 'card', data: { number: '4242424242424241' } }],
  ['type', { type: 'constructor', data: 1 }],
  ['metadata', { data: 1, metadata: { a: 1 } }],
  ['id', { data: 1, id: 7 }],
  ['mask', { data: 1, mask: '{{ other }}' }],
  ['search_indexes', { data: 1, search_indexes: [1] }],
  ['deduplicate_token', { data: 1, deduplicate_token: 'yes' }],
  ['data', {}],
])('a token of code obeys the rules of the API: %s', async (member, token) => {
  await expect(svc('tokens.create', token)).rejects.toMatchObject({
    status: 400,
    data: { code: 'validation_failed', errors: { [member]: [expect.any(String)] } },
  });
});

it.each<[string, unknown[]]>([
  ['tokens.list', [{ size: 101 }]],
  ['tokens.list', [{ page: '1' }]],
  ['tokens.list', [{ after: 1 }]],
  ['tokens.list', [{ 'metadata.a': 'b' }]],
  ['tokens.list', [{ id: [7] }]],
  ['tokens.list', [{ type: '\0' }]],
  ['tokens.list', [{ type: ['card', 'nonsense'] }]],
  ['tokens.list', [{ metadata: 'x' }]],
  ['tokens.list', [{ metadata: [] }]],
  ['tokens.list', [{ metadata: { '\0': 'a' } }]],
  ['tokens.list', [{ metadata: { a: 1 } }]],
  ['tokens.list', [{ metadata: { a: '\0' } }]],
  ['detokenize', [{ a: '{{ nobody-knows-me }}' }]],
  ['tokenize', [{ type: 'card', data: 1 }]],
])('svc.%s refuses %j with 400', async (name, params) => {
  await expect(svc(name, ...params)).rejects.toMatchObject({ status: 400 });
});

it('a value that is nested deeper than a body of HTTP may be is refused with 400', async () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}1${']'.repeat(100_000)}`);
  const { id } = await create({ data: 1 });
  for (const [name, ...params] of [
    ['tokenize', deep],
    ['detokenize', deep],
    ['tokens.create', { data: deep }],
    ['tokens.create', { data: 1, mask: deep }],
    ['tokens.update', id, { data: deep }],
  ] as const) {
    await expect(svc(name, ...params)).rejects.toMatchObject({ status: 400 });
  }
});

it('each call needs its permission, in the container of the token', async () => {
  const { id } = await create({ data: 1 });
  const calls: [Permission, string, unknown[]][] = [
    ['token:create', 'tokenize', ['x']],
    ['token:read', 'detokenize', [`{{ ${id} }}`]],
    ['token:create', 'tokens.create', [{ data: 1 }]],
    ['token:read', 'tokens.retrieve', [id]],
    ['token:update', 'tokens.update', [id, {}]],
    ['token:delete', 'tokens.delete', [id]],
  ];
  for (const [permission, name, params] of calls) {
    const others = everything.filter((one) => one !== permission);
    for (const refused of [svcOf(others), svcOf([permission], '/pci/')]) {
      await expect(refused(name, ...params)).rejects.toMatchObject({ status: 403 });
    }
    await svcOf([permission])(name, ...params);
  }
  await expect(svcOf(['token:create'])('tokens.list')).rejects.toMatchObject({ status: 403 });
});

it('an invalid id and an unknown call are answered with 404', async () => {
  for (const id of [undefined, 7, '', 'a b', '../x', randomUUID()]) {
    await expect(svc('tokens.retrieve', id)).rejects.toMatchObject({ status: 404 });
    await expect(svc('tokens.update', id, {})).rejects.toMatchObject({ status: 404 });
    await expect(svc('tokens.delete', id)).rejects.toMatchObject({ status: 404 });
  }
  await expect(svc('constructor')).rejects.toMatchObject({ status: 404 });
});

it('every call without an application is answered with 409', async () => {
  const call = serviceCalls(
    { ...spec.context, logger },
    () => Promise.resolve(null),
    'trace',
    new Reach(),
  );
  await expect(call('svc.tokenize', ['x'])).rejects.toMatchObject({
    status: 409,
    code: 'application_gone',
  });
});

it('an internal error is logged by type and place, and its message is shown nowhere', async () => {
  const application = { actorId: randomUUID(), tenantId, type: 'private' } as const;
  const principal = { ...application, permissions: ['token:create' as const], rules: [] };
  const away = connectDatabase({ url: spec.testDatabase.dataUrl, app: 'spec', connectionsMax: 1 });
  await away.close();
  const call = serviceCalls(
    { ...spec.context, database: away, logger },
    () => Promise.resolve(principal),
    'trace of a failure',
    new Reach(),
  );
  logged.length = 0;
  const failed = call('svc.tokens.create', [{ data: 'sesame' }]);
  await expect(failed).rejects.toMatchObject({ status: expect.any(Number) as unknown });
  expect(logged).toMatchObject([
    { traceId: 'trace of a failure', error: { type: expect.any(String) as unknown } },
  ]);
  expect(JSON.stringify(logged)).not.toContain('sesame');
});
