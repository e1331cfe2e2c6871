import { randomUUID } from 'node:crypto';
import { startSpecWorker, type SpecWorker } from '../spec-worker';
import {
  claimDelivery,
  givePlaceBack,
  receiverDeliveriesMax,
  takeBackPlaces,
  type ClaimedDelivery,
} from './claim-delivery';
import { countAttempt, recordVerdict, type Attempt } from './delivery-rows';

let worker: SpecWorker;

beforeAll(async () => {
  worker = await startSpecWorker();
});
afterAll(() => worker.close());
beforeEach(() => worker.ctx.database.query('DELETE FROM webhook_deliveries'));

const wait = (tenantId: string, receiver: string | null, count: number): Promise<unknown> =>
  worker.ctx.database.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver,
       body, status, next_attempt_at, created_at)
     SELECT gen_random_uuid(), $1, $1, '', '', $2, '', 'pending', now(), now()
     FROM generate_series(1, $3)`,
    [tenantId, receiver, count],
  );

const claimOf = (tenantId: string) => claimDelivery(worker.ctx.database, tenantId);

/** Claims with so many at once until nothing is left to claim, as several workers do. */
async function claimAll(tenantId: string, atOnce: number): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  const one = async (): Promise<void> => {
    for (;;) {
      const next = await claimOf(tenantId);
      if (next === undefined || next === 'full') return;
      claimed.push(next);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return claimed;
}

async function claimed(tenantId: string): Promise<ClaimedDelivery> {
  const one = await claimOf(tenantId);
  if (one === undefined || one === 'full') throw new Error('nothing was due');
  return one;
}

const attempt: Attempt = { at: '2026-01-31T12:00:00.000Z', ms: 1, outcome: 'timed_out' };

it.each(['a receiver', null])(
  'ten webhooks to one receiver are claimed, however many workers claim at once: %s',
  async (receiver) => {
    const tenantId = randomUUID();
    await wait(tenantId, receiver, 40);
    for (let round = 0; round < 3; round += 1) {
      const taken = await claimAll(tenantId, 8);
      expect(taken).toHaveLength(receiverDeliveriesMax);
      expect(await claimOf(tenantId)).toBe('full');
      const [held] = await worker.ctx.database.query<{ places: number[] }>(
        'SELECT array_agg(place ORDER BY place) AS places FROM webhook_deliveries WHERE place > 0',
      );
      expect(held?.places).toEqual(Array.from({ length: receiverDeliveriesMax }, (_, n) => n + 1));
      await Promise.all(
        taken.map((one) => recordVerdict(worker.ctx.database, one, { kind: 'failed', attempt })),
      );
    }
  },
);

it('another receiver, and the same one of another tenant, have places of their own', async () => {
  const [tenantId, other] = [randomUUID(), randomUUID()];
  await wait(tenantId, 'a', 20);
  await wait(tenantId, 'b', 3);
  await wait(other, 'a', 3);
  expect(await claimAll(tenantId, 2)).toHaveLength(receiverDeliveriesMax + 3);
  expect(await claimAll(other, 2)).toHaveLength(3);
});

it.each<[string, (claim: ClaimedDelivery) => Promise<unknown>]>([
  [
    'is to be repeated',
    (claim) =>
      recordVerdict(worker.ctx.database, claim, { kind: 'retry', attempt, afterMs: 60_000 }),
  ],
  [
    'was delivered',
    (claim) => recordVerdict(worker.ctx.database, claim, { kind: 'delivered', attempt }),
  ],
  ['could not be sent', (claim) => givePlaceBack(worker.ctx.database, claim)],
])('a webhook that %s gives its place to the next one', async (_, end) => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a', receiverDeliveriesMax + 1);
  const [first] = await claimAll(tenantId, 1);
  if (!first) throw new Error('nothing was due');
  expect(await claimOf(tenantId)).toBe('full');
  await end(first);
  expect(await claimed(tenantId)).not.toMatchObject({ id: first.id });
});

it('the places of a worker that died are free when its claims are over, and it sends nothing then', async () => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a', 2 * receiverDeliveriesMax);
  const taken = await claimAll(tenantId, 1);
  await takeBackPlaces(worker.ctx.database);
  expect(await claimOf(tenantId)).toBe('full');
  await worker.ctx.database.query(
    `UPDATE webhook_deliveries SET place_until = now() - interval '1 second' WHERE place > 0`,
  );
  await takeBackPlaces(worker.ctx.database);
  expect(await claimAll(tenantId, 1)).toHaveLength(receiverDeliveriesMax);
  for (const late of taken) {
    expect(await countAttempt(worker.ctx.database, late)).toBeUndefined();
  }
});

it('an attempt that begins holds its place for as long as it may take', async () => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a', 1);
  const claim = await claimed(tenantId);
  await worker.ctx.database.query(`UPDATE webhook_deliveries SET place_until = now()`);
  expect(await countAttempt(worker.ctx.database, claim)).toBe(1);
  const [row] = await worker.ctx.database.query<{ held: number }>(
    'SELECT extract(epoch FROM place_until - now())::float8 AS held FROM webhook_deliveries',
  );
  expect(row?.held).toBeGreaterThan(20);
});
