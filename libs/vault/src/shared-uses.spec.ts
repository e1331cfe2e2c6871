import { randomBytes, randomUUID } from 'node:crypto';
import type { AccessRule, Principal } from '@glovebox/access';
import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import { toProblem } from '@glovebox/problems';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createTestDatabase, type TestDatabase } from '@glovebox/testing';
import { TokenUses, usesOneByOne, Vault, type TokenInput, type Use } from './index';

let testDatabase: TestDatabase;
let data: Database;
let admin: Database;
let uses: TokenUses;
/** Its uses share statements. */
let vault: Vault;
let oneByOne: Vault;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  data = connectDatabase({ url: testDatabase.dataUrl, app: 'spec', connectionsMax: 20 });
  admin = connectDatabase({ url: testDatabase.adminUrl, app: 'admin', connectionsMax: 2 });
  const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
  const sealer = new Sealer(ring, dataKeyTable(data));
  uses = new TokenUses(data);
  vault = new Vault(sealer, uses);
  oneByOne = new Vault(
    sealer,
    usesOneByOne(() => data),
  );
});

afterAll(async () => {
  await Promise.all([data.close(), admin.close()]);
  await testDatabase.drop();
});

function principal(tenantId: string, rules: Partial<AccessRule>[] = []): Principal {
  return {
    applicationId: randomUUID(),
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

const useBy = ({ tenantId, applicationId }: Principal): Use => ({
  tenantId,
  actorId: applicationId,
  operation: 'proxy.invoke',
  entityType: 'proxy',
  entityId: randomUUID(),
  traceId: randomUUID(),
});

const store = (who: Principal, input: TokenInput): Promise<string> =>
  data
    .transaction((sql) => vault.createToken(sql, { principal: who, traceId: 'trace' }, input))
    .then(({ view }) => view.id);

/** The answer to a use, and its lines of the audit log. */
async function outcomeOf(by: Vault, who: Principal, ids: readonly string[]) {
  const use = useBy(who);
  const answer = await by.detokenize(who, use, ids).then(
    (values) => ids.map((id) => values.get(id)),
    (error: unknown) => toProblem(error).body(),
  );
  const lines = await admin.query<object>(
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

  const statements = jest.spyOn(uses, 'read');
  const shared = await Promise.all(all.map(({ who, ids }) => outcomeOf(vault, who, ids)));
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
      return vault.resolve(actor, ['{{ my-card }}']);
    }),
  );
  expect(resolved).toEqual(owners.map(({ tenantId }) => [tenantId]));
});
