import { randomBytes, randomUUID } from 'node:crypto';
import type { Permission, Principal } from '@glovebox/access';
import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { ServiceHeaders } from '@glovebox/wire';
import { createTestDatabase, type TestDatabase } from '@glovebox/testing';
import { TokenUses, Vault } from '@glovebox/vault';
import { tokenizeAs } from './step-message';
import { applySteps, type StepTools } from './steps';

const tenantId = randomUUID();
let testDatabase: TestDatabase;
let database: Database;
let admin: Database;
let vault: Vault;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = connectDatabase({ url: testDatabase.dataUrl, app: 'spec', connectionsMax: 5 });
  admin = connectDatabase({ url: testDatabase.adminUrl, app: 'spec', connectionsMax: 1 });
  const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
  vault = new Vault(new Sealer(ring, dataKeyTable(database)), new TokenUses(database));
});

afterAll(async () => {
  await database.close();
  await admin.close();
  await testDatabase.drop();
});

function application(permissions: Permission[], container = '/'): Principal {
  const rule = {
    description: '',
    priority: 1,
    container,
    transform: 'reveal',
    permissions,
  } as const;
  return { applicationId: randomUUID(), tenantId, type: 'private', permissions: [], rules: [rule] };
}

const collector = application(['token:create', 'token:read']);

function collect(body: unknown, token: { type: string } & object, principal = collector) {
  const tools: StepTools = {
    serviceHeaders: new ServiceHeaders([]),
    tokenize: (requests) => tokenizeAs({ database, vault }, principal, 'trace', requests),
  };
  const steps = [{ type: 'tokenize', options: { path: '$.cards[*]', token } } as const];
  return applySteps(steps, { headers: [], query: '', body }, tools).then(
    (message) => (message.body as { cards: string[] }).cards,
  );
}

const actor = { principal: collector, traceId: 'trace' };
const stored = async (): Promise<number> => {
  const sql = database.shareOf(tenantId);
  const { pagination } = await vault.listTokens(sql, actor, {}, { page: 1, size: 1 });
  return pagination.total_items;
};

const card = (last: string) => ({ number: `424242424242${last}`, expiration_year: 2031 });

it('a step makes the tokens that it describes from the data in the body, recorded as the application’s', async () => {
  const token = { type: 'card', metadata: { from: 'step' }, containers: ['/pci/low/'] };
  const ids = await collect({ cards: [card('4242'), card('4242')] }, token);
  expect(new Set(ids).size).toBe(2);
  const view = await vault.readToken(database.shareOf(tenantId), actor, ids[0] ?? '');
  expect(view).toMatchObject({ ...token, data: card('4242'), createdBy: collector.applicationId });
  const lines = await admin.query(
    `SELECT actor_id, trace_id FROM audit_log WHERE entity_id = $1 AND operation = 'token.create'`,
    [ids[0]],
  );
  expect(lines).toEqual([{ actor_id: collector.applicationId, trace_id: 'trace' }]);
});

it('a step that deduplicates gives the same id for the same data, now and later', async () => {
  const token = { type: 'card', deduplicate_token: true };
  const [first, second] = await collect({ cards: [card('4242'), card('4242')] }, token);
  expect(second).toBe(first);
  expect(await collect({ cards: [card('4242')] }, token)).toEqual([first]);
});

it('a message whose last card is wrong leaves no token behind, and its data is not shown', async () => {
  const before = await stored();
  const refused = collect({ cards: [card('4242'), card('4243')] }, { type: 'card' });
  await expect(refused).rejects.toMatchObject({
    status: 400,
    errors: { '$.cards[*]: data.number': [expect.any(String)] },
  });
  const text = JSON.stringify(await refused.catch((error: unknown) => error));
  expect(text).not.toContain('4242424242424243');
  expect(await stored()).toBe(before);
});

it('1,000 tokens of one message are made, and none of 1,001', async () => {
  const before = await stored();
  const cards = (count: number) => ({ cards: Array.from({ length: count }, (_, at) => `c${at}`) });
  expect(new Set(await collect(cards(1_000), { type: 'token' })).size).toBe(1_000);
  await expect(collect(cards(1_001), { type: 'token' })).rejects.toMatchObject({ status: 413 });
  expect(await stored()).toBe(before + 1_000);
});

it.each([
  ['without token:create', application(['token:read'])],
  ['whose rules cover another container', application(['token:create'], '/pci/')],
])('an application %s makes no token', async (_, principal) => {
  const before = await stored();
  const refused = collect({ cards: ['x'] }, { type: 'token' }, principal);
  await expect(refused).rejects.toMatchObject({ status: 403, code: 'permission_denied' });
  expect(await stored()).toBe(before);
});
