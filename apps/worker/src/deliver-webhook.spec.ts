import { readerVersion } from '@glovebox/database';
import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { dataKeyTable } from '@glovebox/database';
import {
  claimDelivery,
  recordVerdict,
  tenantsWithDueRows,
  type Attempt,
  type ClaimedDelivery,
} from '@glovebox/runs';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import {
  startDestination,
  waitFor,
  type Destination,
  type RecordedRequest,
} from '@glovebox/testing';
import type { WorkerContext } from './context';
import { deliverWebhook, unsentTriesMax } from './deliver-webhook';
import { startSpecWorker, type SpecWorker } from './spec-worker';

let worker: SpecWorker;
let receiver: Destination;
let answer: { status: number; headers?: Record<string, string> };
const newest = `whsec_${randomBytes(32).toString('base64')}`;
const rotated = `whsec_${randomBytes(32).toString('base64')}`;
const expired = `whsec_${randomBytes(32).toString('base64')}`;

beforeAll(async () => {
  worker = await startSpecWorker();
  receiver = await startDestination((_request, response) => {
    response.writeHead(answer.status, answer.headers).end('thanks');
  });
  await worker.define({
    kind: 'tenant',
    id: worker.tenantId,
    tenantId: worker.tenantId,
    settings: {},
    webhookSecrets: [
      { secret: newest, until: null },
      { secret: rotated, until: new Date(Date.now() + 60_000).toISOString() },
      { secret: expired, until: new Date(Date.now() - 1_000).toISOString() },
    ],
  });
});
afterAll(async () => {
  await receiver.close();
  await worker.close();
});
beforeEach(async () => {
  receiver.requests.length = 0;
  answer = { status: 200 };
  await worker.ctx.database.query('DELETE FROM webhook_deliveries');
});

const body = '{"raw":{"sum":5}}';

async function delivery(callbackUrl = `${receiver.url}/hook`): Promise<string> {
  const id = randomUUID();
  const { ctx, tenantId } = worker;
  const seal = (column: string, text: string): Promise<Buffer> =>
    ctx.sealer.seal({ table: 'webhook_deliveries', column, tenantId, record: id }, text);
  await ctx.database.query(
    `INSERT INTO webhook_deliveries
       (id, tenant_id, run_id, webhook_id, callback_url, body, status, next_attempt_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'pending', now(), now())`,
    [
      id,
      tenantId,
      randomUUID(),
      `msg_${id}`,
      await seal('callback_url', callbackUrl),
      await seal('body', body),
    ],
  );
  return id;
}

/** Claims a delivery if one is due. No receiver is full here. */
async function claimDue(): Promise<ClaimedDelivery | undefined> {
  const claimed = await claimDelivery(worker.ctx.database, worker.tenantId);
  if (claimed === 'full') throw new Error('a receiver is full');
  return claimed;
}

/** Makes one attempt if a delivery is due. */
async function attemptDue(): Promise<void> {
  const taken = await claimDue();
  if (taken) await deliverWebhook(worker.ctx, taken);
}

interface Row {
  status: string;
  attempts: number;
  listed: Attempt[];
  outcome: string | null;
  waits: number;
}

async function rowOf(id: string): Promise<Row | undefined> {
  const [row] = await worker.admin.query<Row>(
    `SELECT status, attempts, attempt_log AS listed, NULL AS outcome,
       extract(epoch FROM next_attempt_at - now())::float8 AS waits
     FROM webhook_deliveries WHERE id = $1
     UNION ALL
     SELECT status, jsonb_array_length(attempt_log), attempt_log, outcome, 0
     FROM ended_deliveries WHERE id = $1`,
    [id],
  );
  return row;
}

const makeDue = (id: string): Promise<unknown> =>
  worker.ctx.database.query('UPDATE webhook_deliveries SET next_attempt_at = now() WHERE id = $1', [
    id,
  ]);

const headersOf = (request: RecordedRequest | undefined): Record<string, string> =>
  request?.headers as Record<string, string>;

describe('a webhook', () => {
  it('can be verified with the newest and with the rotated secret, not with an expired one', async () => {
    await delivery();
    await attemptDue();
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/hook' });
    for (const secret of [newest, rotated]) {
      expect(new Webhook(secret).verify(request?.text() ?? '', headersOf(request))).toEqual(
        JSON.parse(body),
      );
    }
    expect(() => new Webhook(expired).verify(request?.text() ?? '', headersOf(request))).toThrow();
  });

  it('names its installation, so that the gateway recognises it when it comes back', async () => {
    await delivery();
    await attemptDue();
    const { hopMarker } = worker.ctx;
    expect(hopMarker).toMatch(/^glovebox-/);
    expect(headersOf(receiver.requests[0])['cdn-loop']).toBe(hopMarker);
  });

  it('whose data is gone is sent all the same, and its body is not kept behind its end', async () => {
    const sights = (token: string): string =>
      JSON.stringify([{ applicationId: randomUUID(), ids: [token], madeAt: [1_000] }]);
    await worker.admin.query(
      `INSERT INTO tokens (tenant_id, id, type, container, data, created_at)
       VALUES ($1, 'there', 'token', '/', '', to_timestamp(1))`,
      [worker.tenantId],
    );
    const kept = async (shown: string | null): Promise<boolean | undefined> => {
      const id = await delivery();
      await worker.ctx.database.query('UPDATE webhook_deliveries SET sights = $2 WHERE id = $1', [
        id,
        shown,
      ]);
      await attemptDue();
      const [row] = await worker.admin.query<{ kept: boolean }>(
        'SELECT body IS NOT NULL AS kept FROM ended_deliveries WHERE id = $1',
        [id],
      );
      return row?.kept;
    };
    expect([await kept(sights('there')), await kept('[]'), await kept(null)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(await kept(sights('deleted'))).toBe(false);
    expect(receiver.requests).toHaveLength(4);
  });

  it('that was delivered is not sent again', async () => {
    const id = await delivery();
    await attemptDue();
    expect(await rowOf(id)).toMatchObject({
      status: 'delivered',
      outcome: 'delivered',
      listed: [{ at: expect.any(String) as string, ms: expect.any(Number) as number, status: 200 }],
    });
    await makeDue(id);
    await attemptDue();
    expect(receiver.requests).toHaveLength(1);
  });

  it('is sent once although two workers are reminded of it at once', async () => {
    await delivery();
    await Promise.all(Array.from({ length: 10 }, attemptDue));
    expect(receiver.requests).toHaveLength(1);
  });

  it('keeps its id and its body over all attempts', async () => {
    const id = await delivery();
    for (const status of [500, 503, 200]) {
      answer = { status };
      await makeDue(id);
      await attemptDue();
    }
    expect(await rowOf(id)).toMatchObject({ status: 'delivered', attempts: 3 });
    const sent = receiver.requests.map((request) => [
      request.text(),
      request.headers['webhook-id'],
    ]);
    expect(sent).toEqual(Array(3).fill([body, `msg_${id}`]));
  });
});

describe('a worker that cannot send', () => {
  const unopened = (): WorkerContext => ({
    ...worker.ctx,
    sealer: new Sealer(
      parseKeyRing(`2:${randomBytes(32).toString('base64')}`),
      dataKeyTable(worker.ctx.database),
    ),
  });

  it('because it lacks the master key uses up no attempt, and waits longer each time', async () => {
    const id = await delivery();
    for (const waits of [30, 60, 120, 240, 480, 600, 600]) {
      await makeDue(id);
      const taken = await claimDue();
      if (!taken) throw new Error('nothing was due');
      await expect(deliverWebhook(unopened(), taken)).rejects.toThrow('master key');
      const row = await rowOf(id);
      expect(row).toMatchObject({ status: 'pending', attempts: 0 });
      expect(row?.waits).toBeGreaterThan(waits - 10);
      expect(row?.waits).toBeLessThanOrEqual(waits);
    }
    await makeDue(id);
    await attemptDue();
    expect(await rowOf(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('because it died before uses up no attempt', async () => {
    const id = await delivery();
    for (let nth = 0; nth < 15; nth += 1) {
      await makeDue(id);
      expect(await claimDue()).toBeDefined();
    }
    await makeDue(id);
    answer = { status: 500 };
    await attemptDue();
    expect(await rowOf(id)).toMatchObject({ status: 'pending', attempts: 1 });
    expect((await rowOf(id))?.waits).toBeLessThan(11);
  });

  it('gives up a webhook that no worker could open for a day', async () => {
    const id = await delivery();
    const tries = (count: number): Promise<unknown> =>
      worker.ctx.database.query('UPDATE webhook_deliveries SET unsent_tries = $2 WHERE id = $1', [
        id,
        count,
      ]);
    const tryOnce = async (): Promise<void> => {
      await makeDue(id);
      const taken = await claimDue();
      if (!taken) throw new Error('nothing was due');
      await expect(deliverWebhook(unopened(), taken)).rejects.toThrow('master key');
    };
    await tries(unsentTriesMax - 1);
    await tryOnce();
    expect(await rowOf(id)).toMatchObject({ status: 'pending' });
    await tryOnce();
    expect(await rowOf(id)).toMatchObject({ status: 'failed', outcome: 'unreadable', attempts: 0 });
  });

  it('because its tenant needs a newer worker leaves it due, however often that happens', async () => {
    const id = await delivery();
    const tenant = { kind: 'tenant', id: worker.tenantId } as const;
    await worker.needReader(readerVersion + 1, tenant);
    for (const unsent of [0, unsentTriesMax + 1]) {
      await worker.ctx.database.query(
        'UPDATE webhook_deliveries SET unsent_tries = $1, next_attempt_at = now()',
        [unsent],
      );
      const taken = await claimDue();
      if (!taken) throw new Error('nothing was due');
      await expect(deliverWebhook(worker.ctx, taken)).rejects.toMatchObject({
        code: 'newer_definition',
      });
      expect(await rowOf(id)).toMatchObject({ status: 'pending', attempts: 0 });
    }
    await worker.needReader(1, tenant);
  });

  it('because another one has claimed the delivery meanwhile sends nothing', async () => {
    const id = await delivery();
    const slow = await claimDue();
    if (!slow) throw new Error('nothing was due');
    await makeDue(id);
    await attemptDue();
    await deliverWebhook(worker.ctx, slow);
    expect(receiver.requests).toHaveLength(1);
    expect(await rowOf(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  });
});

describe('an attempt to deliver a webhook', () => {
  it.each([
    [500, 1, 9],
    [302, 1, 9],
    [500, 2, 18],
    [500, 10, 4_608],
  ])(
    'that is answered with %d is repeated: after attempt %d, the next one waits %d s ± 20 %%',
    async (status, nth, waits) => {
      const id = await delivery();
      await worker.ctx.database.query('UPDATE webhook_deliveries SET attempts = $2 WHERE id = $1', [
        id,
        nth - 1,
      ]);
      answer = { status, headers: { location: `${receiver.url}/elsewhere` } };
      await attemptDue();
      const row = await rowOf(id);
      expect(row).toMatchObject({
        status: 'pending',
        attempts: nth,
        listed: [{ status, outcome: 'rejected' }],
      });
      expect(row?.waits).toBeGreaterThan(waits * 0.79);
      expect(row?.waits).toBeLessThan(waits * 1.21);
      expect(receiver.requests.map(({ url }) => url)).toEqual(['/hook']);
    },
  );

  it('is not repeated when it was the eleventh', async () => {
    const id = await delivery();
    await worker.ctx.database.query('UPDATE webhook_deliveries SET attempts = 10 WHERE id = $1', [
      id,
    ]);
    answer = { status: 500 };
    await attemptDue();
    expect(await rowOf(id)).toMatchObject({ status: 'failed', outcome: 'rejected' });
  });

  it('is not repeated when it is answered with 410', async () => {
    const id = await delivery();
    answer = { status: 410 };
    await attemptDue();
    expect(await rowOf(id)).toMatchObject({ status: 'failed', attempts: 1 });
  });

  it('is repeated no sooner than Retry-After asks', async () => {
    const id = await delivery();
    answer = { status: 503, headers: { 'retry-after': '120' } };
    await attemptDue();
    expect((await rowOf(id))?.waits).toBeGreaterThan(118);
  });

  it.each(['http://127.0.0.1:1/', 'https://169.254.169.254/', 'https://10.0.0.1/'])(
    'to a receiver that does not answer or is not allowed is repeated like any other: %s',
    async (url) => {
      const id = await delivery(url);
      await attemptDue();
      expect(await rowOf(id)).toMatchObject({
        status: 'pending',
        listed: [{ outcome: 'unreachable' }],
      });
    },
  );
});

it('a webhook lists its last fifty attempts', async () => {
  const id = await delivery();
  for (let ms = 1; ms <= 60; ms += 1) {
    await makeDue(id);
    const taken = await claimDue();
    if (!taken) throw new Error('nothing was due');
    const attempt: Attempt = { at: '2026-01-31T12:00:00.000Z', ms, outcome: 'timed_out' };
    const verdict = ms === 60 ? ({ kind: 'failed', attempt } as const) : retryOf(attempt);
    await recordVerdict(worker.ctx.database, taken, verdict);
  }
  const row = await rowOf(id);
  expect(row?.listed.map(({ ms }) => ms)).toEqual(Array.from({ length: 50 }, (_, nth) => nth + 11));
});
const retryOf = (attempt: Attempt) => ({ kind: 'retry', attempt, afterMs: 0 }) as const;

it('a tenant with a due delivery is found, and not one whose deliveries wait', async () => {
  const id = await delivery();
  const due = (): Promise<string[]> => tenantsWithDueRows(worker.ctx.database, 'deliveries');
  await waitFor(async () => (await due()).includes(worker.tenantId));
  await worker.ctx.database.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 minute' WHERE id = $1`,
    [id],
  );
  expect(await due()).toEqual([]);
});
