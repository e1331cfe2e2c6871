import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import { codeIdOf, codePlace } from '@glovebox/runs';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createTestDatabase, type TestDatabase } from '@glovebox/testing';
import { Bundles, keptBytesMax } from './bundles';

let testDatabase: TestDatabase;
let database: Database;
let admin: Database;
let sealer: Sealer;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = connectDatabase({ url: testDatabase.dataUrl, app: 'spec', connectionsMax: 2 });
  admin = connectDatabase({ url: testDatabase.adminUrl, app: 'spec', connectionsMax: 1 });
  const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
  sealer = new Sealer(ring, dataKeyTable(admin));
});
afterAll(async () => {
  await admin.close();
  await database.close();
  await testDatabase.drop();
});

const megabyte = 1024 * 1024;

async function keep(tenantId: string, text: string): Promise<string> {
  const hash = createHash('sha256').update(text).digest('hex');
  const id = codeIdOf(hash) ?? '';
  await admin.query(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at) VALUES ($1, $2, $3, now())`,
    [tenantId, id, await sealer.seal(codePlace(tenantId, id), text)],
  );
  return hash;
}

const keepMany = async (tenantId: string, count: number): Promise<string[]> => {
  const hashes: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    hashes.push(await keep(tenantId, `${nth} of ${tenantId}`.padEnd(megabyte, 'x')));
  }
  return hashes;
};

it('texts are kept up to 64 MiB, and one tenant has at most half of them', async () => {
  const bundles = new Bundles(database, sealer);
  const [one, other] = [randomUUID(), randomUUID()];
  const [first = '', ...rest] = await keepMany(one, 34);
  const [ofOther = ''] = await keepMany(other, 1);
  await bundles.read(other, ofOther);
  for (const hash of [first, ...rest]) await bundles.read(one, hash);
  expect(bundles.state).toEqual({ texts: 33, bytes: 33 * megabyte });
  expect(bundles.state.bytes).toBeLessThan(keptBytesMax);
  await admin.query('DELETE FROM code_texts WHERE tenant_id = ANY ($1)', [[one, other]]);
  await expect(bundles.read(other, ofOther)).resolves.toHaveLength(megabyte);
  await expect(bundles.read(one, rest.at(-1) ?? '')).resolves.toHaveLength(megabyte);
  await expect(bundles.read(one, first)).rejects.toThrow('has no text');
});

it('many who ask for one text at once share one reading', async () => {
  const tenantId = randomUUID();
  const hash = await keep(tenantId, 'module.exports = 1');
  let readings = 0;
  const counted = {
    shareOf: (owner: string) => {
      readings += 1;
      return database.shareOf(owner);
    },
  };
  const bundles = new Bundles(counted, sealer);
  await Promise.all(Array.from({ length: 50 }, () => bundles.read(tenantId, hash)));
  expect(readings).toBe(1);
});

it('without Postgres a text that was read before is there, and any other is 503', async () => {
  const tenantId = randomUUID();
  const hashes = [await keep(tenantId, 'one'), await keep(tenantId, 'other')];
  const away = connectDatabase({ url: testDatabase.dataUrl, app: 'spec', connectionsMax: 1 });
  const bundles = new Bundles(away, sealer);
  await bundles.read(tenantId, hashes[0] ?? '');
  await away.close();
  const gone = connectDatabase({
    ...{ url: 'postgres://glovebox_data:x@127.0.0.1:1/none', app: 'spec', connectionsMax: 1 },
  });
  Object.assign(bundles, { database: gone });
  expect(await bundles.read(tenantId, hashes[0] ?? '')).toBe('one');
  const refused: unknown = await bundles.read(tenantId, hashes[1] ?? '').catch((e: unknown) => e);
  expect(refused).toBeInstanceOf(Problem);
  expect(refused).toMatchObject({ status: 503 });
  await gone.close();
});
