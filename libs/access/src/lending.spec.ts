import {
  asLent,
  holds,
  inCode,
  notLent,
  permissions,
  personPrincipal,
  type Principal,
} from './index';

const application: Principal = {
  ...{ actorId: 'a', tenantId: 't', type: 'private' },
  permissions: ['token:use', 'token:create', 'token:delete'],
  rules: [
    {
      ...{ description: 'cards', priority: 1, container: '/pci/', transform: 'reveal' },
      permissions: ['token:read', 'token:update'],
    },
  ],
};
const person = (role: 'viewer' | 'author' | 'admin') =>
  personPrincipal({ id: 'p', tenantId: 't', role });
const heldBy = (principal: Principal) => permissions.filter((each) => holds(principal, each));

it('an author lends code what comes with the use of tokens, and an admin all', () => {
  expect(heldBy(asLent(application, person('author')))).toEqual([
    'token:create',
    'token:read',
    'token:use',
  ]);
  expect(notLent(application, person('author'))).toEqual(['token:delete', 'token:update']);
  expect(asLent(application, person('admin'))).toEqual(application);
  expect(notLent(application, person('admin'))).toEqual([]);
});

it('nobody lends what the application does not hold, and a viewer no use of tokens', () => {
  const none: Principal = { ...application, permissions: [], rules: [] };
  expect(heldBy(asLent(none, person('admin')))).toEqual([]);
  expect(heldBy(asLent(application, person('viewer')))).toEqual(['token:read']);
});

it('code without an application makes tokens for people who may use them', () => {
  for (const [role, makes] of [
    ['viewer', false],
    ['author', true],
    ['admin', true],
  ] as const) {
    expect([role, holds(inCode(person(role)), 'token:create')]).toEqual([role, makes]);
  }
  const key: Principal = { ...application, permissions: ['token:use'], rules: [] };
  expect(holds(inCode(key), 'token:create')).toBe(false);
});

it('a lent rule keeps its container and transform', () => {
  expect(asLent(application, person('author')).rules).toEqual([
    { ...application.rules[0], permissions: ['token:read'] },
  ]);
});
