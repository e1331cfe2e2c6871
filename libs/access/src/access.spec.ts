import {
  generateApiKey,
  generateProxyKey,
  grantFor,
  isApiKey,
  isProxyKey,
  requirePermission,
  type AccessRule,
  type Principal,
} from './index';

const rule = (changes: Partial<AccessRule>): AccessRule => ({
  description: 'a rule',
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions: ['token:read'],
  ...changes,
});
const principal = (changes: Partial<Principal>): Principal => ({
  actorId: 'a',
  tenantId: 't',
  type: 'private',
  permissions: [],
  rules: [],
  ...changes,
});

describe('an API key', () => {
  it('is long, random and always of the same shape', () => {
    const keys = Array.from({ length: 1_000 }, generateApiKey);
    expect(new Set(keys).size).toBe(1_000);
    for (const key of keys) expect(key).toMatch(/^key_[0-9A-Za-z]{33}$/);
    expect(keys.every(isApiKey)).toBe(true);
  });

  it('is refused when one character is wrong', () => {
    const key = generateApiKey();
    for (let at = 4; at < key.length; at += 1) {
      const typo = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
      expect(isApiKey(typo)).toBe(false);
    }
    expect(isApiKey('')).toBe(false);
    expect(isApiKey(`${key} `)).toBe(false);
  });
});

it('a proxy key has 22 base62 characters', () => {
  expect(generateProxyKey()).toMatch(/^[0-9A-Za-z]{22}$/);
  expect(isProxyKey(generateProxyKey())).toBe(true);
  expect(isProxyKey('short')).toBe(false);
});

describe('the deciding grant', () => {
  it('is of the lowest priority, whatever the containers', () => {
    const rules = [
      rule({ priority: 2, container: '/pci/high/', transform: 'redact' }),
      rule({ priority: 1, container: '/pci/', transform: 'mask' }),
    ];
    expect(grantFor(principal({ rules }), 'token:read', '/pci/high/')).toBe('mask');
  });

  it('is of the most specific container among equal priorities', () => {
    const rules = [
      rule({ container: '/pci/', transform: 'mask' }),
      rule({ container: '/pci/high/', transform: 'redact' }),
    ];
    expect(grantFor(principal({ rules }), 'token:read', '/pci/high/')).toBe('redact');
    expect(grantFor(principal({ rules }), 'token:read', '/pci/low/')).toBe('mask');
  });

  it('covers whole segments only', () => {
    const rules = [rule({ container: '/pci/' })];
    expect(grantFor(principal({ rules }), 'token:read', '/pcix/high/')).toBeUndefined();
  });

  it('is never of a rule that does not list the permission', () => {
    const rules = [rule({ permissions: ['token:delete'], transform: 'redact' })];
    const both = principal({ rules, permissions: ['token:read'] });
    expect(grantFor(both, 'token:read', '/pci/high/')).toBe('mask');
  });

  it('is a plain permission only last: it reads under mask and uses in the clear', () => {
    const plain = principal({ permissions: ['token:read', 'token:use'] });
    expect(grantFor(plain, 'token:read', '/general/high/')).toBe('mask');
    expect(grantFor(plain, 'token:use', '/general/high/')).toBe('reveal');
    expect(grantFor(plain, 'token:delete', '/general/high/')).toBeUndefined();
  });
});

describe('an endpoint gate', () => {
  it('is met by a plain permission or by any rule', () => {
    const require = (who: Principal) => () => requirePermission(who, 'token:read');
    expect(require(principal({ permissions: ['token:read'] }))).not.toThrow();
    expect(require(principal({ rules: [rule({ container: '/x/' })] }))).not.toThrow();
    expect(require(principal({}))).toThrow();
  });

  it('says which permission is missing', () => {
    expect(() => requirePermission(principal({}), 'token:use')).toThrow(
      /^The permission token:use is needed\.$/,
    );
  });

  it('says which type of application may hold it, if this one may not', () => {
    const manager = principal({ type: 'management' });
    expect(() => requirePermission(manager, 'token:create')).toThrow(
      'The permission token:create is needed. Applications of type management cannot hold it; use a private one.',
    );
    expect(() => requirePermission(principal({}), 'proxy:create')).toThrow(
      'Applications of type private cannot hold it; use a management one.',
    );
  });
});
