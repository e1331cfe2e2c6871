import { rule, useTestApi } from '../spec-api';
import { createTenant } from '../tenants/create-tenant';

const api = useTestApi();

interface Manager {
  readonly key: string;
  readonly id: string;
  readonly path: string;
}

/** A tenant of its own, with the one application that manages it. */
async function alone(): Promise<Manager> {
  const { management_key: key } = await createTenant(api.ctx, { name: 'Alone', demo: false });
  const { id } = (await api.get('/applications/key', key)).body as { id: string };
  return { key, id, path: `/applications/${id}` };
}

/** One more application of the same tenant. */
async function another({ key }: Manager, more: object = {}): Promise<Manager> {
  const input = { name: 'B', type: 'management', permissions: ['application:create'], ...more };
  const made = await api.made<{ id: string; key: string }>('/applications', input, key);
  return { ...made, path: `/applications/${made.id}` };
}

const keyOf = async ({ key, path }: Manager): Promise<string> => {
  const [first] = (await api.get(`${path}/keys`, key)).body as { id: string }[];
  return `${path}/keys/${first?.id}`;
};

const document = { name: 'A', permissions: ['application:update', 'application:delete'] };
const future = '2099-01-01T00:00:00Z';
const past = '2020-01-01T00:00:00Z';

/** Changes that would take the application's key, its right or its future away. */
const losses: Readonly<Record<string, (of: Manager, key: string) => Promise<{ status: number }>>> =
  {
    'deletion of the application': async ({ path }, key) => await api.delete(path, key),
    'deletion although it is used': async ({ path }, key) =>
      await api.delete(`${path}?force=true`, key),
    'deletion of the key': async (of, key) => await api.delete(await keyOf(of), key),
    'PUT of other permissions': async ({ path }, key) => await api.put(path, document, key),
    'PATCH of permissions': async ({ path }, key) =>
      await api.patch(path, { permissions: document.permissions }, key),
    'PATCH of permissions to a rule without it': async ({ path }, key) =>
      await api.patch(path, { permissions: null, rules: [rule('reveal', '/', ['log:read'])] }, key),
    'an end in the past': async ({ path }, key) => await api.patch(path, { expires_at: past }, key),
    'an end in the future': async ({ path }, key) =>
      await api.patch(path, { expires_at: future }, key),
  };

describe.each(Object.entries(losses))('the last key that may create applications', (name, lose) => {
  it(`is protected against ${name} with 409, which says how a leaked one is stopped`, async () => {
    const manager = await alone();
    const before = (await api.get(manager.path, manager.key)).body as object;
    expect(await lose(manager, manager.key)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('/regenerate') as string },
    });
    expect((await api.get(manager.path, manager.key)).body).toEqual(before);
  });

  it(`makes way for another one: ${name}`, async () => {
    const manager = await alone();
    await another(manager);
    expect([200, 204]).toContain((await lose(manager, manager.key)).status);
  });

  it(`does not make way for one that ends: ${name}`, async () => {
    const manager = await alone();
    await another(manager, { expires_at: future });
    expect((await lose(manager, manager.key)).status).toBe(409);
  });
});

it('the last key that may create applications is one whose rule says so', async () => {
  const manager = await alone();
  const rules = [rule('reveal', '/', ['application:create'])];
  await another(manager, { permissions: [], rules });
  expect((await api.delete(manager.path, manager.key)).status).toBe(204);
});

it.each<[string, object]>([
  ['of another type', { type: 'private', permissions: ['token:create'] }],
  ['without the permission', { permissions: ['application:read'] }],
  ['that has expired', { expires_at: past }],
])('a key %s does not let anybody back in', async (_, more) => {
  const manager = await alone();
  const other = await another(manager, more);
  expect((await api.delete(manager.path, manager.key)).status).toBe(409);
  expect((await api.delete(other.path, manager.key)).status).toBe(204);
});

it('a leaked last key is stopped by regenerate, and the new key manages', async () => {
  const manager = await alone();
  const answer = await api.post(`${manager.path}/regenerate`, {}, manager.key);
  expect(answer.status).toBe(200);
  const { key } = answer.body as { key: string };
  expect((await api.get(manager.path, manager.key)).status).toBe(401);
  await another({ ...manager, key });
});

it('where every key ends, the last one that lives is protected', async () => {
  const manager = await alone();
  const [one, two] = await Promise.all([
    another(manager, {
      expires_at: future,
      permissions: ['application:create', 'application:delete'],
    }),
    another(manager, { expires_at: future }),
  ]);
  // A release that did not protect it has ended the one without an end.
  await api.admin.query('DELETE FROM applications WHERE id = $1', [manager.id]);
  expect((await api.delete(two.path, one.key)).status).toBe(204);
  expect((await api.delete(one.path, one.key)).status).toBe(409);
});

it('two requests at once take only one of the last two keys', async () => {
  for (let round = 0; round < 5; round += 1) {
    const manager = await alone();
    const all = [
      'application:create',
      'application:update',
      'application:delete',
      'application:read',
    ];
    const other = await another(manager, { permissions: all });
    const ways = Object.values(losses);
    const first = ways[round % ways.length];
    const second = ways[(round + 3) % ways.length];
    const answers = await Promise.all([first?.(manager, manager.key), second?.(other, other.key)]);
    const refused = answers.filter((answer) => answer?.status === 409);
    expect([round, refused.length]).toEqual([round, 1]);
  }
});
