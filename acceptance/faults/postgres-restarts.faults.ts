import { Client } from 'pg';
import { ready, startOwnProduct, type OwnProduct } from '../own-product';
import { call, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const runsMin = 1_500;
const callersMax = 16;
const restarts = 20;

/** Reports its start by the argument of the run. */
const code = `const http = require('http');
module.exports = async ({ args }) => {
  await new Promise((resolve, reject) => {
    http.get(args.started, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
  return { raw: { n: args.n } };
};`;

let product: OwnProduct;
let receiver: Receiver;
let reactorId: string;

/** The runs that got a 202. */
const accepted = new Set<string>();
let calls = 0;

beforeAll(async () => {
  product = await startOwnProduct();
  receiver = await startReceiver((res) => void res.end());
  reactorId = await reactorOf(product, code);
  await rows(`
    CREATE TABLE written (what text, id uuid, fence bigint, xact xid8);
    CREATE FUNCTION note_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        INSERT INTO written VALUES (TG_ARGV[0], NEW.id, NEW.fence, pg_current_xact_id());
        RETURN NULL;
      END $$;
    CREATE TRIGGER marked AFTER UPDATE ON reactor_runs FOR EACH ROW
      WHEN (NEW.started_at IS NOT NULL AND NEW.started_at IS DISTINCT FROM OLD.started_at)
      EXECUTE FUNCTION note_write('mark');
    CREATE TRIGGER counted AFTER UPDATE ON webhook_deliveries FOR EACH ROW
      WHEN (NEW.attempts > OLD.attempts) EXECUTE FUNCTION note_write('count')`);
});

afterAll(async () => {
  await product.stop();
  await receiver.close();
});

/** On a connection of its own: the former one may be gone. */
async function rows<Row extends object>(text: string): Promise<Row[]> {
  const client = new Client({ connectionString: product.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

async function accept(): Promise<void> {
  calls += 1;
  const n = calls;
  const answer = await call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
    key: product.privateKey,
    body: {
      args: { n, started: `${receiver.url}/started/${n}` },
      callback_url: `${receiver.url}/hook`,
    },
  });
  if (answer.status === 202) accepted.add(String(answer.body.async_request_id));
}

/** Calls until enough runs were accepted. A call that fails promises nothing. */
async function keepAccepting(): Promise<void> {
  while (accepted.size < runsMin) {
    const before = accepted.size;
    await accept().catch(() => undefined);
    if (accepted.size === before) await ready(product.opsUrls.gateway).catch(() => undefined);
  }
}

/**
 * Kills a connection of the worker that is in a statement, if there is one. Postgres then ends all
 * connections and starts again from its log.
 */
async function restartPostgres(): Promise<void> {
  const [victim] = await rows<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'worker'
     ORDER BY state = 'active' DESC LIMIT 1`,
  );
  if (!victim) throw new Error('the worker has no connection');
  process.kill(victim.pid, 'SIGKILL');
  await until(
    () =>
      rows(`SELECT 1 WHERE NOT EXISTS (
        SELECT FROM pg_stat_activity WHERE pid = ${victim.pid})`).then(
        (found) => found.length > 0,
        () => false,
      ),
    60_000,
  );
  await ready(product.opsUrls.gateway);
}

/** Restarts while runs are accepted, in even parts of them. */
async function keepRestarting(): Promise<void> {
  for (let nth = 1; nth <= restarts; nth += 1) {
    const share = (runsMin * nth) / (restarts + 1);
    await until(() => Promise.resolve(accepted.size >= share), 120_000);
    await restartPostgres();
  }
}

const count = async (from: string): Promise<number> =>
  Number((await rows<{ count: string }>(`SELECT count(*) FROM ${from}`))[0]?.count);

it('1,500 accepted runs are each started at most once, ended once and reported although Postgres is restarted 20 times under statements that they share', async () => {
  await Promise.all([keepRestarting(), ...Array.from({ length: callersMax }, keepAccepting)]);
  await until(async () => (await count('reactor_runs')) === 0, 240_000);
  await until(async () => (await count('webhook_deliveries')) === 0, 240_000);

  const sent = new Map<string, string[]>();
  for (const { headers, body } of receiver.received) {
    const id = headers['webhook-id'];
    if (typeof id !== 'string') continue;
    const runId = id.replace('msg_', '');
    sent.set(runId, [...(sent.get(runId) ?? []), body]);
  }
  expect([...accepted].filter((id) => !sent.has(id))).toEqual([]);
  expect([...sent.values()].filter((bodies) => new Set(bodies).size !== 1)).toEqual([]);

  const starts = receiver.received.map(({ url }) => url).filter((url) => /^\/started/.test(url));
  expect(starts.filter((url, at) => starts.indexOf(url) !== at)).toEqual([]);

  const ended = await rows<{ id: string; outcome: string }>('SELECT id, outcome FROM ended_runs');
  expect(new Set(ended.map(({ id }) => id)).size).toBe(ended.length);
  expect(new Set(ended.map(({ id }) => id))).toEqual(new Set(sent.keys()));
  expect(await count(`ended_deliveries WHERE status = 'delivered'`)).toBe(ended.length);

  // A claim marks and counts once, and nothing is sent without a count of its own.
  const twice = 'written GROUP BY what, id, fence HAVING count(*) > 1';
  expect(await rows(`SELECT what, id, fence FROM ${twice}`)).toEqual([]);
  const counted = await rows<{ id: string; times: number }>(
    `SELECT id, count(*)::int AS times FROM written WHERE what = 'count' GROUP BY id`,
  );
  const timesOf = new Map(counted.map(({ id, times }) => [id, times]));
  expect([...sent].filter(([id, bodies]) => bodies.length > (timesOf.get(id) ?? 0))).toEqual([]);

  const [shared] = await rows<{ mark: number; count: number }>(
    `SELECT max(n) FILTER (WHERE what = 'mark')::int AS mark,
       max(n) FILTER (WHERE what = 'count')::int AS count
     FROM (SELECT what, count(*) AS n FROM written GROUP BY what, xact) statements`,
  );
  expect(shared?.mark).toBeGreaterThan(1);
  expect(shared?.count).toBeGreaterThan(1);

  const outcomes: Record<string, number> = {};
  for (const { outcome } of ended) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const tries = [...sent.values()].flat().length;
  process.stdout.write(
    `accepted ${accepted.size} of ${calls} calls, ${ended.length} runs ended ${JSON.stringify(outcomes)}, ` +
      `${starts.length} starts, ${tries} webhooks sent, up to ${shared?.mark} marks and ` +
      `${shared?.count} counts in a statement\n`,
  );
}, 900_000);
