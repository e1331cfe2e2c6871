import { randomUUID } from 'node:crypto';
import type { Permission, Principal } from '@glovebox/access';
import { ServiceHeaders } from '@glovebox/wire';
import { startSpecGateway, type SpecGateway } from '../../spec-gateway';
import { tokenizeAs } from './step-message';
import { applySteps, type StepTools } from './steps';

const tenantId = randomUUID();
let gateway: SpecGateway;

beforeAll(async () => {
  gateway = await startSpecGateway();
});
afterAll(() => gateway.close());

function application(permissions: Permission[], container = '/'): Principal {
  const rule = {
    description: '',
    priority: 1,
    container,
    transform: 'reveal',
    permissions,
  } as const;
  return { actorId: randomUUID(), tenantId, type: 'private', permissions: [], rules: [rule] };
}

const collector = application(['token:create', 'token:read']);

function collect(body: unknown, token: { type: string } & object, principal = collector) {
  const tools: StepTools = {
    side: 'request',
    serviceHeaders: new ServiceHeaders([]),
    tokenize: (requests) => tokenizeAs(gateway.ctx, { principal, traceId: 'trace' }, requests),
  };
  const steps = [{ type: 'tokenize', options: { path: '$.cards[*]', token } } as const];
  return applySteps(steps, { headers: [], query: '', body }, tools).then(
    (message) => (message.body as { cards: string[] }).cards,
  );
}

const actor = { principal: collector, traceId: 'trace' };
const stored = async (): Promise<number> => {
  const { database, vault } = gateway.ctx;
  const { pagination } = await vault.listTokens(
    database.shareOf(tenantId),
    actor,
    {},
    { page: 1, size: 1 },
  );
  return pagination.total_items;
};

const card = (last: string) => ({ number: `424242424242${last}`, expiration_year: 2031 });

it('a step makes the tokens that it describes from the data in the body, recorded as the application’s', async () => {
  const token = { type: 'card', metadata: { from: 'step' }, containers: ['/pci/low/'] };
  const ids = await collect({ cards: [card('4242'), card('4242')] }, token);
  expect(new Set(ids).size).toBe(2);
  const { database, vault } = gateway.ctx;
  const view = await vault.readToken(database.shareOf(tenantId), actor, ids[0] ?? '');
  expect(view).toMatchObject({ ...token, data: card('4242'), createdBy: collector.actorId });
  const lines = await gateway.asAdmin(
    `SELECT actor_id, trace_id FROM audit_log
     WHERE entity_id = '${ids[0]}' AND operation = 'token.create'`,
  );
  expect(lines).toEqual([{ actor_id: collector.actorId, trace_id: 'trace' }]);
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
