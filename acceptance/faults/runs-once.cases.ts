import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Client } from 'pg';
import { AppProcess } from '../processes';
import { call, create, reactorOf, runningProduct, until, type Answer } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const product = runningProduct();
export const gateway = new AppProcess(product.pids.gateway);
let receiver: Receiver;
let postgres: Client;
let locker: Client;
let reactorId: string;
let expression: string;
/** The requests of code that runs; each is answered when the test says so. */
let asked: ServerResponse[];

/** Tells the receiver that it runs, and waits for its answer. */
const telling = `const http = require('http');
module.exports = async ({ args }) => {
  await new Promise((resolve, reject) => {
    http.get(args.tell, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
  return { raw: { card: args.card } };
};`;

beforeAll(async () => {
  postgres = new Client({ connectionString: product.databaseUrl });
  locker = new Client({ connectionString: product.databaseUrl });
  await Promise.all([postgres.connect(), locker.connect()]);
  reactorId = await reactorOf(product, telling);
  const token = { type: 'token', data: '4242' };
  const { id } = await create(product, '/tokens', token, product.privateKey);
  expression = `{{ ${id} }}`;
});

afterAll(() => Promise.all([postgres.end(), locker.end()]));

beforeEach(async () => {
  asked = [];
  receiver = await startReceiver((res) => void asked.push(res));
});
afterEach(() => receiver.close());

function react(once: string, callbackUrl?: string): Promise<Answer> {
  return call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: product.privateKey,
    headers: { 'SVC-IDEMPOTENCY-KEY': once },
    body: {
      args: { card: expression, tell: `${receiver.url}/run` },
      ...(callbackUrl === undefined ? {} : { callback_url: callbackUrl }),
    },
  });
}

/** A call whose gateway is killed, so that it gets no answer. */
function startCall(once: string, callbackUrl?: string): void {
  react(once, callbackUrl).catch(() => undefined);
}

const claimed = async (): Promise<boolean> => (await rowsOfCalls()).length > 0;

async function rowsOfCalls(): Promise<unknown[]> {
  const { rows } = await postgres.query<object>(
    `SELECT status FROM idempotency_keys WHERE path = $1 AND created_at > now() - interval '1 hour'`,
    [`/reactors/${reactorId}/react`],
  );
  return rows;
}

/** Kills the gateway while one of its statements waits for a lock; that statement does nothing. */
async function killWhileItWaits(): Promise<void> {
  let pids: number[] = [];
  await until(async () => {
    const { rows } = await postgres.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE application_name = 'gateway' AND wait_event_type = 'Lock'`,
    );
    pids = rows.map(({ pid }) => pid);
    return pids.length > 0;
  });
  gateway.signal('SIGKILL');
  for (const pid of pids) await postgres.query('SELECT pg_terminate_backend($1)', [pid]);
  await locker.query('ROLLBACK');
}

async function comeBack(): Promise<void> {
  gateway.restart();
  const list = `${product.baseUrl}/reactors`;
  const isBack = async () => (await call('GET', list, { key: product.adminKey })).status === 200;
  await until(isBack, 30_000);
}

/** Moves the ends of all claims of this reactor into the past. */
const endClaims = () =>
  postgres.query(
    `UPDATE idempotency_keys SET lease_until = now() - interval '1 s' WHERE path = $1`,
    [`/reactors/${reactorId}/react`],
  );

/** The claim of the dead gateway holds, and ends as an interrupted run. */
async function expectNeverAgain(once: string, runs: number): Promise<void> {
  expect(await react(once)).toMatchObject({ status: 409, body: { code: 'request_in_progress' } });
  await endClaims();
  for (let repetition = 0; repetition < 3; repetition += 1) {
    expect(await react(once)).toMatchObject({ status: 500, body: { code: 'run_interrupted' } });
  }
  expect(receiver.received).toHaveLength(runs);
}

describe('a run with an idempotency key whose gateway is killed', () => {
  beforeEach(async () => {
    await postgres.query('DELETE FROM idempotency_keys WHERE path = $1', [
      `/reactors/${reactorId}/react`,
    ]);
  });

  it('before its claim is run by the repetition', async () => {
    const once = randomUUID();
    await locker.query('BEGIN');
    await locker.query('LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE');
    startCall(once);
    await killWhileItWaits();
    await comeBack();
    const repeated = react(once);
    await receiver.next();
    asked[0]?.end();
    expect((await repeated).body).toEqual({ raw: { card: '4242' } });
    expect(receiver.received).toHaveLength(1);
  });

  it('between its claim and its code is never started', async () => {
    const once = randomUUID();
    await locker.query('BEGIN');
    await locker.query('LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE');
    startCall(once);
    await until(claimed);
    await killWhileItWaits();
    await comeBack();
    await expectNeverAgain(once, 0);
  });

  it('while its code runs is never started again', async () => {
    const once = randomUUID();
    startCall(once);
    await receiver.next();
    gateway.signal('SIGKILL');
    await comeBack();
    await expectNeverAgain(once, 1);
  });

  it('between its result and its outcome is never started again', async () => {
    const once = randomUUID();
    startCall(once);
    await receiver.next();
    await locker.query('BEGIN');
    await locker.query('SELECT * FROM idempotency_keys WHERE path = $1 FOR UPDATE', [
      `/reactors/${reactorId}/react`,
    ]);
    asked[0]?.end();
    await killWhileItWaits();
    await comeBack();
    await expectNeverAgain(once, 1);
  });

  it('once its outcome is stored is answered with it', async () => {
    const once = randomUUID();
    startCall(once);
    await receiver.next();
    asked[0]?.end();
    await until(async () => {
      const [row] = (await rowsOfCalls()) as { status: number | null }[];
      return row?.status === 200;
    });
    gateway.signal('SIGKILL');
    await comeBack();
    expect((await react(once)).body).toEqual({ raw: { card: '4242' } });
    expect(receiver.received).toHaveLength(1);
  });

  it('before an async run is accepted is accepted once, by a repetition after its claim', async () => {
    const once = randomUUID();
    const hook = `${receiver.url}/hook`;
    const accepted = async (): Promise<number> => {
      const of = 'SELECT 1 FROM reactor_runs WHERE reactor_id = $1';
      return (await postgres.query(of, [reactorId])).rows.length;
    };
    await locker.query('BEGIN');
    await locker.query('LOCK TABLE reactor_runs IN SHARE ROW EXCLUSIVE MODE');
    startCall(once, hook);
    await until(claimed);
    await killWhileItWaits();
    await comeBack();
    expect((await react(once, hook)).status).toBe(409);
    await endClaims();
    const first = await react(once, hook);
    const second = await react(once, hook);
    expect([first.status, second.status, second.text]).toEqual([202, 202, first.text]);
    expect(await accepted()).toBe(1);
    await receiver.next();
    asked[0]?.end();
    expect((await receiver.next()).url).toBe('/hook');
    asked[1]?.end();
  });
});
