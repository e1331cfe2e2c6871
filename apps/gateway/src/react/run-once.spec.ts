import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { startRunner, waitFor } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

const answerIdleMs = 600;
const callbackUrl = 'http://127.0.0.1:9/hook';
const header = 'SVC-IDEMPOTENCY-KEY';

/** Answers with the number of runs so far: a warm process keeps it. */
const counting = `let runs = 0;
module.exports = async ({ args }) => {
  runs += 1;
  if (args.wait) await new Promise((resolve) => setTimeout(resolve, args.wait));
  if (args.fails) throw new (require('@svc/reactor-errors')[args.fails])('no');
  return { raw: { runs, echo: args.echo }, tokenize: args.tokenize };
};`;

let runner: Awaited<ReturnType<typeof startRunner>>;
let gateway: SpecGateway;
let key: string;
let reactorId: string;

beforeAll(async () => {
  runner = await startRunner();
  gateway = await startSpecGateway({
    RUNNER_URLS: runner.url,
    RUNNER_SECRET: runner.secret,
    OUTCOME_BYTES_PER_TENANT: String(1024 * 1024),
    ANSWER_IDLE_MS: String(answerIdleMs),
  });
  key = await gateway.application(['token:use', 'token:create']);
});

beforeEach(async () => {
  reactorId = await gateway.reactor([], counting);
});

afterAll(async () => {
  await gateway.close();
  await runner.stop();
});

interface Sent {
  readonly apiKey?: string;
  readonly id?: string;
  readonly name?: string;
  readonly signal?: AbortSignal;
}

async function react(once: string | undefined, body: object, sent: Sent = {}) {
  const { apiKey = key, id = reactorId, name = header, signal } = sent;
  const answer = await fetch(`${gateway.url}/reactors/${id}/react`, {
    method: 'POST',
    headers: {
      'SVC-API-KEY': apiKey,
      'Content-Type': 'application/json',
      ...(once === undefined ? {} : { [name]: once }),
    },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
  return {
    status: answer.status,
    body: (await answer.json()) as Readonly<Record<string, unknown>>,
    isReplay: answer.headers.get('svc-idempotent-replay') === 'true',
    retryAfter: answer.headers.get('retry-after'),
  };
}

const runsSoFar = async (): Promise<number> =>
  ((await react(undefined, {})).body.raw as { runs: number }).runs - 1;

const rowsOf = (id = reactorId) =>
  gateway.ctx.database.query<{ status: number | null; row: string }>(
    'SELECT status, t::text AS row FROM idempotency_keys t WHERE path = $1',
    [`/reactors/${id}/react`],
  );
const age = (seconds: number) =>
  gateway.asAdmin(
    `UPDATE idempotency_keys SET lease_until = lease_until - interval '${seconds} s',
       created_at = created_at - interval '${seconds} s'
     WHERE path = '/reactors/${reactorId}/react'`,
  );

describe('a run with an idempotency key', () => {
  it('runs once, and its answer is repeated under every spelling of the header', async () => {
    const once = randomUUID();
    const body = { args: { echo: 'canary-of-the-outcome' } };
    const first = await react(once, body);
    expect(first).toMatchObject({
      status: 200,
      body: { raw: { runs: 1, echo: 'canary-of-the-outcome' } },
      isReplay: false,
    });
    const second = await react(once, body, { name: 'BT-Idempotency-Key' });
    expect(second).toEqual({ ...first, isReplay: true });
    expect(await runsSoFar()).toBe(1);
    const [row] = await rowsOf();
    expect(row?.row).not.toContain('canary');
    expect(row?.row).not.toContain(Buffer.from('canary').toString('hex'));
    expect(row?.row).not.toContain(once);
  });

  it.each([
    ['BadRequestError', 400],
    ['RateLimitError', 429],
    ['ServiceUnavailableError', 503],
    ['ReactorRuntimeError', 500],
  ])('that failed with %s is not run again', async (fails, status) => {
    const once = randomUUID();
    const first = await react(once, { args: { fails } });
    expect(first).toMatchObject({ status, body: { code: 'reactor_error' }, isReplay: false });
    const second = await react(once, { args: { fails } });
    expect([second.status, second.body, second.isReplay]).toEqual([status, first.body, true]);
    expect(await runsSoFar()).toBe(1);
  });

  it('gets 409 while it runs, and its outcome then', async () => {
    const once = randomUUID();
    const first = react(once, { args: { wait: 1_000 } });
    await waitFor(async () => (await rowsOf()).length > 0);
    expect(await react(once, { args: { wait: 1_000 } })).toMatchObject({
      status: 409,
      body: { code: 'request_in_progress' },
      retryAfter: '1',
    });
    expect((await first).status).toBe(200);
    expect(await react(once, { args: { wait: 1_000 } })).toMatchObject({ isReplay: true });
    expect(await runsSoFar()).toBe(1);
  });

  it('runs once however many repetitions come at the same moment', async () => {
    const once = randomUUID();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => react(once, { args: { wait: 100 } })),
    );
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(all.filter(({ status, isReplay }) => status === 200 && !isReplay)).toHaveLength(1);
    expect(await runsSoFar()).toBe(1);
  });

  it('gets 422 with another body, for 24 hours', async () => {
    const once = randomUUID();
    await react(once, { args: { echo: 1 } });
    expect(await react(once, { args: { echo: 2 } })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
    await age(24 * 60 * 60 + 1);
    expect(await react(once, { args: { echo: 2 } })).toMatchObject({
      status: 200,
      isReplay: false,
    });
  });

  it('is another one on another reactor and of another application', async () => {
    const once = randomUUID();
    await react(once, {});
    const id = await gateway.reactor([], counting);
    expect(await react(once, {}, { id })).toMatchObject({ status: 200, isReplay: false });
    const apiKey = await gateway.application(['token:use']);
    expect(await react(once, {}, { apiKey })).toMatchObject({ status: 200, isReplay: false });
  });

  it('goes on when its caller leaves, and its outcome can be fetched', async () => {
    const once = randomUUID();
    const leaving = new AbortController();
    const left = react(once, { args: { wait: 500 } }, { signal: leaving.signal });
    await waitFor(async () => (await rowsOf()).length > 0);
    leaving.abort();
    await expect(left).rejects.toThrow();
    const answer = await waitFor(async () => {
      const again = await react(once, { args: { wait: 500 } });
      return again.status === 200 ? again : undefined;
    });
    expect(answer).toMatchObject({ body: { raw: { runs: 1 } }, isReplay: true });
  });

  it('is reported as interrupted once its claim has ended, and never started again', async () => {
    const once = randomUUID();
    const running = react(once, { args: { wait: 1_000 } });
    await waitFor(async () => (await rowsOf()).length > 0);
    await age(41);
    const repeat = () => react(once, { args: { wait: 1_000 } });
    expect(await repeat()).toMatchObject({ status: 500, body: { code: 'run_interrupted' } });
    // The owner was slow and had not died. Its outcome is the true one.
    expect((await running).status).toBe(200);
    expect(await repeat()).toMatchObject({ status: 200, isReplay: true });
    expect(await runsSoFar()).toBe(1);
  });

  it.each([
    ['400', 400, { args: 1 }],
    ['400 of an unknown token', 400, { args: { a: `{{ ${randomUUID()} }}` } }],
  ])('that was refused with %s before its code leaves the key free', async (_, status, body) => {
    const once = randomUUID();
    expect((await react(once, body)).status).toBe(status);
    expect(await react(once, {})).toMatchObject({ status: 200, isReplay: false });
  });

  it.each(['', 'x'.repeat(256), 'a b'])('is refused with 400 under the key %j', async (once) => {
    expect(await react(once, {})).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('shows no more of a token than is granted when it is repeated', async () => {
    const rule = (transform: 'reveal' | 'mask') => ({
      description: '',
      priority: 1,
      container: '/',
      transform,
      permissions: ['token:use', 'token:create'] as const,
    });
    const { key: apiKey, change } = await gateway.revocable([], gateway.tenantId, [rule('reveal')]);
    const once = randomUUID();
    const body = { args: { tokenize: { type: 'token', data: 'shown' } } };
    const first = await react(once, body, { apiKey });
    expect(first).toMatchObject({ status: 200, body: { tokens: { data: 'shown' } } });
    expect((await react(once, body, { apiKey })).body).toEqual(first.body);
    await change({ rules: [rule('mask')] });
    expect(await react(once, body, { apiKey })).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    });
  });

  it('is sent again as it was stored, and never parsed', async () => {
    const once = randomUUID();
    await react(once, {});
    const [row] = (await gateway.ctx.database.query(
      `SELECT application_id || ' ' || path || ' ' || key_hash AS record FROM idempotency_keys
       WHERE path = $1`,
      [`/reactors/${reactorId}/react`],
    )) as { record: string }[];
    const { tenantId } = gateway;
    const place = { table: 'idempotency_keys', column: 'response', tenantId };
    const text = '{"raw": 1.50, "raw": [ ]}';
    const sealed = await gateway.ctx.sealer.seal({ ...place, record: row?.record ?? '' }, text);
    await gateway.asAdmin(
      `UPDATE idempotency_keys SET response = '\\x${sealed.toString('hex')}'
       WHERE path = '/reactors/${reactorId}/react'`,
    );
    const again = await fetch(`${gateway.url}/reactors/${reactorId}/react`, {
      method: 'POST',
      headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json', [header]: once },
      body: '{}',
    });
    expect([again.status, await again.text()]).toEqual([200, text]);
  });

  it('is 410 where nobody knows what it shows', async () => {
    const once = randomUUID();
    await react(once, {});
    await gateway.asAdmin(
      `UPDATE idempotency_keys SET sights = NULL WHERE path = '/reactors/${reactorId}/react'`,
    );
    expect(await react(once, {})).toMatchObject({
      status: 410,
      body: { code: 'data_gone', ended: { outcome: 'completed', http_status: 200 } },
      isReplay: false,
    });
    expect(await runsSoFar()).toBe(1);
  });

  it('is 410 where another token took the id of one that it shows, even while the code ran', async () => {
    const id = `own-${randomUUID()}`;
    await gateway.token('old', { id });
    const once = randomUUID();
    const body = { args: { echo: `{{ ${id} }}`, wait: 1_000 } };
    const first = react(once, body);
    await waitFor(async () => (await gateway.uses(id)).length > 0);
    await gateway.asAdmin(`DELETE FROM tokens WHERE id = '${id}'`);
    await gateway.token('new', { id });
    expect(await first).toMatchObject({ status: 200, body: { raw: { echo: 'old' } } });
    expect(await react(once, body)).toMatchObject({ status: 410, body: { code: 'data_gone' } });
    expect(await rowsOf()).toHaveLength(1);
  });

  it('is not run again where its answer was too large to be kept', async () => {
    const once = randomUUID();
    const tokens = Array.from({ length: 900 }, () => ({ type: 'token', data: 'x' }));
    const body = { args: { echo: 'x'.repeat(900_000), tokenize: tokens } };
    expect((await react(once, body)).status).toBe(200);
    expect(await react(once, body)).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
      isReplay: true,
    });
    expect(await runsSoFar()).toBe(1);
  });
});

describe('a large answer', () => {
  const body = { args: { echo: 'x'.repeat(200_000) } };

  it('that is repeated waits for a turn of its tenant, and a small one does not', async () => {
    const [large, small] = [randomUUID(), randomUUID()];
    await Promise.all([react(large, body), react(small, {})]);
    const { turns } = gateway.ctx.shares;
    const endTurn = await turns.take(gateway.tenantId);
    const again = react(large, body);
    await waitFor(() => turns.state.waiting === 1);
    expect(await react(small, {})).toMatchObject({ status: 200, isReplay: true });
    endTurn();
    expect(await again).toMatchObject({ status: 200, body: { raw: body.args }, isReplay: true });
  });

  it('that nobody reads is counted, and its connection ends in time', async () => {
    const once = randomUUID();
    await react(once, body);
    const { bufferedBytes, calls } = gateway.ctx.shares;
    const text = JSON.stringify(body);
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').pause();
    const closed = new Promise((resolve) => socket.on('error', resolve).once('close', resolve));
    socket.write(
      (
        `POST /reactors/${reactorId}/react HTTP/1.1\r\nHost: a\r\nSVC-API-KEY: ${key}\r\n` +
        `${header}: ${once}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${text.length}\r\n\r\n${text}`
      ).repeat(60),
    );
    await waitFor(() => bufferedBytes.heldBy(gateway.tenantId) > 4 * text.length);
    await waitFor(() => calls.state.held === 0, { timeoutMs: 20 * answerIdleMs });
    expect(bufferedBytes.state.held).toBe(0);
    socket.resume();
    await closed;
  });
});

describe('an async run with an idempotency key', () => {
  const runs = () =>
    gateway.ctx.database.query('SELECT id FROM reactor_runs WHERE reactor_id = $1', [reactorId]);

  it('is accepted once, and every repetition gets the id of that run', async () => {
    const once = randomUUID();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => react(once, { callback_url: callbackUrl })),
    );
    const accepted = all.filter(({ status }) => status === 202);
    const [run] = (await runs()) as { id: string }[];
    expect(await runs()).toHaveLength(1);
    expect(new Set(accepted.map(({ body }) => body.async_request_id))).toEqual(new Set([run?.id]));
    expect(await react(once, { callback_url: callbackUrl })).toMatchObject({
      status: 202,
      body: { async_request_id: run?.id },
      isReplay: true,
    });
  });

  it('that was refused leaves neither a run nor an outcome', async () => {
    const once = randomUUID();
    const refused = { args: { a: `{{ ${randomUUID()} }}` }, callback_url: callbackUrl };
    expect((await react(once, refused)).status).toBe(400);
    expect([await runs(), await rowsOf()]).toEqual([[], []]);
  });
});

it('a call without a key leaves no row', async () => {
  await react(undefined, {});
  expect(await rowsOf()).toEqual([]);
});

it('calls that are refused before their code take nothing of what their tenant may keep', async () => {
  const refused = { args: { a: `{{ ${randomUUID()} }}` } };
  // As many rows as the tenant may keep.
  for (let part = 0; part < 16; part += 1) {
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => react(randomUUID(), refused)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
  }
  expect(await react(randomUUID(), {})).toMatchObject({ status: 200 });
});

// The last one: it uses up the share of the tenant.
it('a run with an idempotency key is refused before it begins when its tenant keeps as much as it may', async () => {
  const echo = 'x'.repeat(600_000);
  const answers = [];
  for (let call = 0; call < 3; call += 1) {
    answers.push(await react(randomUUID(), { args: { echo } }));
  }
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[2]).toMatchObject({ body: { code: 'share_exhausted' }, retryAfter: '60' });
  expect(await react(undefined, {})).toMatchObject({ status: 200 });
});
