import { randomUUID } from 'node:crypto';
import type { AccessRule, Principal } from '@glovebox/access';
import { toProblem } from '@glovebox/problems';
import { usesOneByOne, Vault, type TokenInput, type Use } from './index';
import { useSpecVault } from './spec-vault';
import { Reach } from './reach';

let oneByOne: Vault;

const spec = useSpecVault({ connectionsMax: 20 });
beforeAll(() => {
  oneByOne = new Vault(
    spec.sealer,
    usesOneByOne(() => spec.data),
  );
});

function principal(tenantId: string, rules: Partial<AccessRule>[] = []): Principal {
  return {
    actorId: randomUUID(),
    tenantId,
    type: 'private',
    permissions: rules.length > 0 ? [] : ['token:create', 'token:use', 'token:read'],
    rules: rules.map((rule) => ({
      description: '',
      priority: 1,
      container: '/',
      transform: 'reveal' as const,
      permissions: ['token:use'] as const,
      ...rule,
    })),
  };
}

const useBy = ({ tenantId, actorId }: Principal): Use => ({
  tenantId,
  actorId,
  operation: 'proxy.invoke',
  entityType: 'proxy',
  entityId: randomUUID(),
  traceId: randomUUID(),
});

const store = (who: Principal, input: TokenInput): Promise<string> =>
  spec.data
    .transaction((sql) => spec.vault.createToken(sql, { principal: who, traceId: 'trace' }, input))
    .then(({ view }) => view.id);

/** The answer to a use, and its lines of the audit log. */
async function outcomeOf(by: Vault, who: Principal, ids: readonly string[]) {
  const use = useBy(who);
  const answer = await by.detokenize(who, use, ids, new Reach()).then(
    (values) => ids.map((id) => values.get(id)),
    (error: unknown) => toProblem(error).body(),
  );
  const lines = await spec.admin.query<object>(
    'SELECT tenant_id, actor_id, outcome, token_ids FROM audit_log WHERE trace_id = $1',
    [use.traceId],
  );
  return { answer, lines };
}

it('callers of two tenants that share a statement get their own tokens under their own rules, or their own refusal', async () => {
  const [a, b] = [principal(randomUUID()), principal(randomUUID())];
  for (const owner of [a, b]) {
    const data = { number: '4242424242424242', owner: owner.tenantId };
    await store(owner, { id: 'same-card', type: 'token', data, mask: `mask of ${owner.tenantId}` });
    await store(owner, { id: 'in-pci', data: owner.tenantId, containers: ['/pci/'] });
    await store(owner, { id: 'unmasked', data: owner.tenantId, containers: ['/free/'] });
  }
  const ofA = await store(a, { data: 'of a' });
  const callers = [a, b].flatMap((owner) => [
    owner,
    principal(owner.tenantId, [{ transform: 'mask' }]),
    principal(owner.tenantId, [{ container: '/pci/' }]),
    principal(owner.tenantId, [{ container: '/pci/', transform: 'redact', priority: 0 }, {}]),
    principal(owner.tenantId, [{ container: '/nowhere/' }]),
  ]);
  const wanted = [['same-card'], ['same-card', 'in-pci'], ['unmasked'], [ofA], ['gone', 'in-pci']];
  const all = callers.flatMap((who) => wanted.map((ids) => ({ who, ids })));

  const statements = jest.spyOn(spec.uses, 'read');
  const shared = await Promise.all(all.map(({ who, ids }) => outcomeOf(spec.vault, who, ids)));
  expect(statements).toHaveBeenCalledTimes(all.length);
  statements.mockRestore();
  for (const [n, { who, ids }] of all.entries()) {
    expect({ who, ids, ...shared[n] }).toEqual({
      who,
      ids,
      ...(await outcomeOf(oneByOne, who, ids)),
    });
  }
  const given = shared.flatMap(({ answer }) => (Array.isArray(answer) ? [answer] : []));
  expect(given).toHaveLength(14);
});

it('documents that code fills in at the same time get values of their own tenants alone', async () => {
  const owners = Array.from({ length: 10 }, () => principal(randomUUID()));
  for (const who of owners) await store(who, { id: 'my-card', data: who.tenantId });
  const resolved = await Promise.all(
    owners.map(({ tenantId }) => {
      const reader = principal(tenantId, [{ permissions: ['token:read'] }]);
      const actor = { principal: reader, traceId: 'trace' };
      return spec.vault.resolve(actor, ['{{ my-card }}']);
    }),
  );
  expect(resolved).toEqual(owners.map(({ tenantId }) => [tenantId]));
});
