import { claimIn, oidcRoles, roleOf } from './oidc-roles';

const tenantId = '0d3a2f5e-8f6b-4c0e-9b1a-5d2c7e4f6a10';
const roles = oidcRoles.parse(`ops@bank.example=${tenantId}:admin,dev=${tenantId}:author`);

it('an address counts once the issuer has verified it', () => {
  const email = 'ops@bank.example';
  const roleWith = (email_verified: unknown) =>
    roleOf(roles, claimIn({ email, email_verified }, 'email'))?.role;
  expect(roleWith(true)).toBe('admin');
  for (const verified of [false, undefined, 'true']) expect(roleWith(verified)).toBeUndefined();
});

it('the first value that the claim has counts, of a text and of a list', () => {
  expect(roleOf(roles, claimIn({ groups: ['none', 'dev'] }, 'groups'))?.role).toBe('author');
  expect(roleOf(roles, claimIn({ groups: 'dev' }, 'groups'))?.role).toBe('author');
  expect(roleOf(roles, claimIn({}, 'groups'))).toBeUndefined();
});
