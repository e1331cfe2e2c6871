import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Principal } from '@glovebox/access';
import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createTestDatabase, type TestDatabase } from '@glovebox/testing';
import { placeOf } from './token';
import type { Use } from './statements/read-and-record';
import { TokenUses } from './statements/token-uses';
import { Vault } from './vault';
import { Reach } from './reach';

const few = 1_000;
const many = 1_000_000;
const batch = 10_000;
const tokensPerUse = 2;
const rounds = 1_500;

const tenantId = randomUUID();
const principal: Principal = {
  actorId: randomUUID(),
  tenantId,
  type: 'private',
  permissions: ['token:use'],
  rules: [],
};
const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
const opened: Stock[] = [];

/** A database with `count` tokens of one tenant. */
interface Stock {
  readonly testDatabase: TestDatabase;
  readonly database: Database;
  readonly vault: Vault;
  readonly count: number;
}

afterAll(async () => {
  for (const { database, testDatabase } of opened) {
    await database.close();
    await testDatabase.drop();
  }
});

/** UUIDs that can be computed again, so that none is kept. */
const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

async function stockOf(count: number): Promise<Stock> {
  const testDatabase = await createTestDatabase();
  const connect = (url: string): Database =>
    connectDatabase({ url, app: 'soak', connectionsMax: 2, statementTimeoutMs: 120_000 });
  const database = connect(testDatabase.dataUrl);
  const sealer = new Sealer(ring, dataKeyTable(database));
  const stock = {
    testDatabase,
    database,
    vault: new Vault(sealer, new TokenUses(database)),
    count,
  };
  opened.push(stock);
  for (let first = 0; first < count; first += batch) {
    const ids = Array.from({ length: Math.min(batch, count - first) }, (_, n) => idOf(first + n));
    const data = await Promise.all(
      ids.map((id) => sealer.seal(placeOf(tenantId, id, 'data'), JSON.stringify(id))),
    );
    await database.query(
      `INSERT INTO tokens (tenant_id, id, type, container, data, metadata, fingerprint, created_at)
       SELECT $1, id, 'token', '/general/high/', data, '{}', id, now()
       FROM unnest($2::text[], $3::bytea[]) AS n (id, data)`,
      [tenantId, ids, data],
    );
  }
  const owner = connect(testDatabase.ownerUrl);
  await owner.query('VACUUM ANALYZE tokens');
  await owner.close();
  return stock;
}

async function useSome({ vault, count }: Stock): Promise<number> {
  const ids = new Set<string>();
  while (ids.size < tokensPerUse) ids.add(idOf(randomInt(count)));
  const use: Use = {
    tenantId,
    actorId: principal.actorId,
    operation: 'proxy.invoke',
    entityType: 'proxy',
    entityId: tenantId,
    traceId: 'soak',
  };
  const startedAt = performance.now();
  const values = await vault.detokenize(principal, use, [...ids], new Reach());
  const took = performance.now() - startedAt;
  for (const id of ids) expect(values.get(id)).toBe(id);
  return took;
}

const median = (times: number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

it(
  'a million tokens: a use takes as long as among a thousand, and holds no more memory',
  async () => {
    const stocks = [await stockOf(few), await stockOf(many)] as const;
    const measure = async (): Promise<[number, number]> => {
      const times: [number[], number[]] = [[], []];
      // The two take turns: a slow moment of the machine slows both.
      for (let round = 0; round < rounds; round += 1) {
        for (const at of [0, 1] as const) times[at].push(await useSome(stocks[at]));
      }
      return [median(times[0]), median(times[1])];
    };
    await measure();
    global.gc?.();
    const before = process.memoryUsage().rss;
    const [amongFew, amongMany] = await measure();
    const grownMb = (process.memoryUsage().rss - before) / 1024 / 1024;
    const ratio = amongMany / amongFew;
    process.stdout.write(
      `median ${amongFew.toFixed(2)} ms of ${few}, ${amongMany.toFixed(2)} ms of ${many}, ` +
        `ratio ${ratio.toFixed(2)}, ${grownMb.toFixed(0)} MB more\n`,
    );
    expect(ratio).toBeLessThan(1.2);
    expect(grownMb).toBeLessThan(50);
  },
  15 * 60_000,
);
