import { randomUUID } from 'node:crypto';
import type { AccessRule, Permission, Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import { enterTenant } from '@glovebox/testing';
import type { TokenVerdict } from './judge-token';
import { useSpecVault } from './spec-vault';
import { Reach } from './reach';

const spec = useSpecVault();
const tenantId = randomUUID();
const secret = 'the secret of the token';
let ids: { readonly masked: string; readonly bare: string };

type Rule = Partial<AccessRule>;

const principal = (
  permissions: readonly Permission[],
  rules: readonly Rule[] = [],
  type: Principal['type'] = 'private',
): Principal => ({
  ...{ actorId: randomUUID(), tenantId, type, permissions },
  rules: rules.map((rule) => ({
    ...{ description: 'a rule', priority: 1, container: '/' },
    transform: 'reveal' as const,
    permissions: ['token:read', 'token:use', 'token:search'],
    ...rule,
  })),
});
const by = (who: Principal) => ({ principal: who, traceId: 'trace' });

beforeAll(async () => {
  const store = (token: object): Promise<string> =>
    spec.management.transaction(async (sql) => {
      await enterTenant(sql, tenantId);
      const input = { type: 'token', data: secret, containers: ['/pci/high/'], ...token };
      const writer = by(principal(['token:create']));
      return (await spec.vault.createToken(sql, writer, input)).view.id;
    });
  ids = { masked: await store({ mask: 'the mask' }), bare: await store({}) };
});

const viewer = principal(['token:read']);
const judge = (
  application: Principal,
  permission: Permission,
  tokenId: string,
  asking = viewer,
): Promise<TokenVerdict> =>
  spec.vault.judgeToken(spec.data, by(asking), { application, permission, tokenId });

/** What becomes of a call of the application, by the code that serves it. */
async function served(
  application: Principal,
  permission: Permission,
  id: string,
): Promise<{ isAllowed: boolean; data?: unknown }> {
  try {
    if (permission === 'token:read') {
      const { data } = await spec.vault.readToken(spec.data, by(application), id);
      return { isAllowed: true, data };
    }
    const use = {
      ...{ tenantId, actorId: application.actorId, operation: 'proxy.invoke' },
      ...{ entityType: 'proxy', entityId: 'p', traceId: 'trace' },
    };
    const values = await spec.vault.detokenize(application, use, [id], new Reach());
    return { isAllowed: true, data: values.get(id) };
  } catch (error) {
    if (error instanceof Problem && error.code === 'permission_denied') return { isAllowed: false };
    throw error;
  }
}

const transforms = ['reveal', 'mask', 'redact'] as const;
const applications: readonly [string, Principal][] = [
  ['that may do nothing', principal([])],
  ['with plain permissions', principal(['token:read', 'token:use'])],
  ['with one of them', principal(['token:use'])],
  ['of the public type', principal([], [{ transform: 'reveal' }], 'public')],
  ...transforms.flatMap((transform): [string, Principal][] => [
    [`with a rule that says ${transform}`, principal([], [{ transform }])],
    [
      `with a rule of another container that says ${transform}, and plain permissions`,
      principal(['token:read', 'token:use'], [{ transform, container: '/pci/low/' }]),
    ],
    [
      `with a longer rule that says ${transform}`,
      principal(['token:read'], [{ transform: 'reveal' }, { transform, container: '/pci/' }]),
    ],
    [
      `with an earlier rule that says ${transform}`,
      principal([], [{ priority: 2, container: '/pci/high/' }, { transform }]),
    ],
    [
      `with a rule for reading that says ${transform}`,
      principal(['token:use'], [{ transform, permissions: ['token:read'] }]),
    ],
  ]),
];

it.each(applications)(
  'an application %s gets what it was judged to get, and nobody else sees it',
  async (_, application) => {
    for (const permission of ['token:read', 'token:use'] as const) {
      for (const id of Object.values(ids)) {
        const verdict = await judge(application, permission, id);
        const { isAllowed, data } = await served(application, permission, id);
        expect([permission, verdict.reason, verdict.isAllowed]).toEqual([
          ...[permission, verdict.reason, isAllowed],
        ]);
        const given = { reveal: secret, mask: id === ids.masked ? 'the mask' : undefined };
        const { transform } = verdict;
        if (isAllowed) {
          expect(transform === null || transform === 'redact' ? undefined : given[transform]).toBe(
            data,
          );
        }
        expect(JSON.stringify(verdict)).not.toContain(secret);
        const isSeen = transform === 'reveal' || transform === 'mask';
        expect(verdict.shown?.data).toBe(isSeen ? given.mask : undefined);
        expect(verdict.shown === undefined).toBe(transform === null);
      }
    }
  },
);

it('the deciding rule is named, or the permission', async () => {
  const rules = [
    { priority: 2, container: '/', transform: 'reveal' },
    { priority: 1, container: '/pci/', transform: 'mask' },
  ] as const;
  const application = principal(['token:read'], rules);
  expect(await judge(application, 'token:read', ids.masked)).toMatchObject({
    ...{ transform: 'mask', rule: application.rules[1], container: '/pci/high/' },
    reason: 'A rule for /pci/ of priority 1 gives the mask.',
  });
  const plain = await judge(principal(['token:use']), 'token:use', ids.bare);
  expect(plain).toMatchObject({
    ...{ isAllowed: true, rule: undefined },
    reason: 'The permission token:use gives the data.',
  });
  expect(await judge(principal([]), 'token:delete', ids.bare)).toMatchObject({
    ...{ isAllowed: false, transform: null, rule: undefined },
    reason: 'The permission token:delete is needed for the container /pci/high/.',
  });
});

it.each<[string, Principal, string | undefined]>([
  ['nothing of the token sees nothing', principal(['token:use'], [], 'management'), undefined],
  ['none of its data sees none', principal([], [{ transform: 'redact' }]), 'no data'],
  ['its data sees the mask alone', principal([], [{ transform: 'reveal' }]), 'the mask'],
])('who asks and may see %s', async (_, asking, seen) => {
  const application = principal([], [{ transform: 'reveal' }]);
  const { isAllowed, shown } = await judge(application, 'token:read', ids.masked, asking);
  expect(isAllowed).toBe(true);
  expect(shown && (shown.data ?? 'no data')).toBe(seen);
});

it('a question leaves no line in the audit log', async () => {
  const linesOf = () => spec.admin.query('SELECT FROM audit_log WHERE tenant_id = $1', [tenantId]);
  const before = (await linesOf()).length;
  const application = principal([], [{ transform: 'reveal' }]);
  await judge(application, 'token:read', ids.masked);
  await judge(principal([]), 'token:use', ids.masked);
  expect(await linesOf()).toHaveLength(before);
});

it.each(['nothing', randomUUID(), ' ', '{{x}}'])('the token %j is unknown', async (id) => {
  await expect(judge(principal(['token:read']), 'token:read', id)).rejects.toMatchObject({
    code: 'unknown_token',
  });
});
