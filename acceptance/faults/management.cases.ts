import { Redis } from 'ioredis';
import { Client } from 'pg';
import { AppProcess } from '../processes';
import { call, create, runningProduct, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const product = runningProduct();
const { baseUrl, adminKey, privateKey } = product;
const roundsEach = 67;
const convergesWithinMs = 1_000;

export const management = new AppProcess(product.pids['management-api']);
let receiver: Receiver;
let postgres: Client;
let locker: Client;
let redis: Redis;
let proxy: { id: string; key: string };

interface State {
  /** The destination according to the row. */
  readonly destination: string;
  /** The newest version of the proxy in the log, and the number of changes in the audit log. */
  readonly version: number;
  readonly changes: number;
  readonly head: number;
}

async function stored(): Promise<State> {
  const { rows } = await postgres.query<Record<keyof State, string>>(
    `SELECT p.destination_url AS destination, l.version, h.version AS head,
       (SELECT count(*) FROM audit_log
        WHERE entity_id = p.id::text AND operation IN ('proxy.create', 'proxy.update')) AS changes
     FROM proxies p JOIN definition_log l ON l.id = p.id, definition_head h WHERE p.id = $1`,
    [proxy.id],
  );
  const [row] = rows;
  if (!row) throw new Error('the proxy is gone');
  const { destination, version, changes, head } = row;
  return {
    destination,
    version: Number(version),
    changes: Number(changes),
    head: Number(head),
  };
}

/** The destination that the data plane uses right now. */
async function forwardedTo(): Promise<string> {
  receiver.received.length = 0;
  const answer = await call('GET', `${baseUrl}/proxy`, {
    key: privateKey,
    headers: { 'SVC-PROXY-KEY': proxy.key },
  });
  if (answer.status !== 200) throw new Error(`the proxy answered ${answer.status} ${answer.text}`);
  return receiver.url + (receiver.received.at(-1)?.url ?? '');
}

/** A change under way that is never answered. */
function startChange(round: string): void {
  call('PATCH', `${baseUrl}/proxies/${proxy.id}`, {
    key: adminKey,
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { destination_url: `${receiver.url}/${round}` },
  }).catch(() => undefined);
}

async function comeBack(): Promise<void> {
  management.restart();
  // Not the readiness of the whole product, which may be from before the kill.
  const list = `${baseUrl}/proxies`;
  await until(async () => (await call('GET', list, { key: adminKey })).status === 200, 30_000);
}

async function expectWhole(before: State, expected: 'none' | 'all', round: string): Promise<void> {
  const after = await stored();
  const done = expected === 'all' ? 1 : 0;
  expect(after).toEqual({
    destination: done ? `${receiver.url}/${round}` : before.destination,
    version: done ? before.head + 1 : before.version,
    changes: before.changes + done,
    head: before.head + done,
  });
}

const rounds = (name: string): string[] =>
  Array.from({ length: roundsEach }, (_, n) => `${name}-${n}`);

describe('the management API', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    postgres = new Client({ connectionString: product.databaseUrl });
    locker = new Client({ connectionString: product.databaseUrl });
    await Promise.all([postgres.connect(), locker.connect()]);
    redis = new Redis(product.redisUrl);
    const body = { name: 'target', destination_url: `${receiver.url}/0` };
    const { id, key } = await create(product, '/proxies', body);
    proxy = { id, key: String(key) };
  });

  afterAll(async () => {
    await redis.call('CLIENT', 'UNPAUSE');
    redis.disconnect();
    await Promise.all([postgres.end(), locker.end()]);
    await receiver.close();
  });

  it('leaves no trace of a change when it is killed before the commit', async () => {
    for (const round of rounds('before')) {
      const before = await stored();
      await locker.query('BEGIN');
      await locker.query('SELECT * FROM definition_head FOR UPDATE');
      startChange(round);
      await until(async () => {
        const { rows } = await postgres.query(
          `SELECT 1 FROM pg_stat_activity
         WHERE application_name = 'management-api' AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      management.signal('SIGKILL');
      await locker.query('ROLLBACK');
      await comeBack();
      await expectWhole(before, 'none', round);
      expect(await forwardedTo()).toBe(before.destination);
    }
  }, 600_000);

  it('has made a whole change, in force within a second, when it is killed after the commit', async () => {
    for (const round of rounds('committed')) {
      const before = await stored();
      await redis.call('CLIENT', 'PAUSE', '10000', 'WRITE');
      startChange(round);
      await until(async () => (await stored()).head > before.head);
      management.signal('SIGKILL');
      const committedAt = performance.now();
      await redis.call('CLIENT', 'UNPAUSE');
      await until(
        async () => (await forwardedTo()) === `${receiver.url}/${round}`,
        convergesWithinMs,
      );
      expect(performance.now() - committedAt).toBeLessThan(convergesWithinMs);
      await expectWhole(before, 'all', round);
      await comeBack();
    }
  }, 600_000);

  it('has made a whole and lasting change when it is killed after the push', async () => {
    for (const round of rounds('pushed')) {
      const before = await stored();
      const cached = () => redis.hget('{glovebox}:definitions:payloads', `proxy:${proxy.id}`);
      const older = await cached();
      startChange(round);
      await until(async () => (await cached()) !== older);
      management.signal('SIGKILL');
      await until(
        async () => (await forwardedTo()) === `${receiver.url}/${round}`,
        convergesWithinMs,
      );
      await comeBack();
      await expectWhole(before, 'all', round);
      expect(await forwardedTo()).toBe(`${receiver.url}/${round}`);
    }
  }, 600_000);

  it('leaves all of a deployment or nothing of it, whenever it is killed', async () => {
    const wholes = new Set<string>();
    for (let round = 0; round < 24; round += 1) {
      const items = Array.from({ length: 30 }, (_, n) => ({
        ...{ kind: 'proxy', slug: `killed-${n}`, name: `round ${round}` },
        destination_url: receiver.url,
      }));
      call('POST', `${baseUrl}/deployments`, { key: adminKey, body: { items } }).catch(
        () => undefined,
      );
      await new Promise((resolve) => setTimeout(resolve, 10 * round));
      management.signal('SIGKILL');
      await comeBack();
      const { rows } = await postgres.query<{ state: string; proxies: string }>(
        `SELECT name AS state, count(*) AS proxies FROM proxies WHERE slug LIKE 'killed-%' GROUP BY 1`,
      );
      expect(rows.length).toBeLessThanOrEqual(1);
      const [whole] = rows;
      if (whole) expect(whole.proxies).toBe('30');
      wholes.add(whole?.state ?? 'none');
    }
    // Some were killed too early, and some in time.
    expect(wholes.size).toBeGreaterThan(1);
  }, 600_000);
});
