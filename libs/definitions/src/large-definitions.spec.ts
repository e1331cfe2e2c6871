import { randomBytes, randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import { listLog, logPartBytesMax, type LogList } from './log';
import { startStage, type Stage } from './spec-stage';

const count = 24;
const megabyte = 1024 * 1024;

let stage: Stage;
let admin: Database;
const ids: string[] = [];

/** Writes definitions as a release without a limit for them did. */
beforeAll(async () => {
  stage = await startStage();
  admin = connectDatabase({ url: stage.database.adminUrl, app: 'spec', connectionsMax: 1 });
  const large = randomBytes(megabyte / 2).toString('hex');
  for (let at = 0; at < count; at += 1) {
    const id = randomUUID();
    ids.push(id);
    await stage.write(stage.reactor(id, { large }));
  }
});

afterEach(() => stage.disconnect());
afterAll(async () => {
  await admin.close();
  await stage.close();
});

const bytesOf = ({ entries }: LogList): number =>
  entries.reduce((sum, { bytes }) => sum + bytes, 0);

/** Every part from the beginning of the log to its head. */
async function allParts(): Promise<LogList[]> {
  const parts: LogList[] = [];
  for (let after = 0; ;) {
    const part = await listLog(stage.management, after);
    parts.push(part);
    if (part.upTo === part.head.version) return parts;
    expect(part.upTo).toBeGreaterThan(after);
    after = part.upTo;
  }
}

it('large definitions do not make the parts larger in which the log is read', async () => {
  const parts = await allParts();
  expect(parts.flatMap(({ entries }) => entries.map(({ id }) => id))).toEqual(ids);
  // The entry that takes a part over the limit is its last.
  for (const part of parts) {
    expect(bytesOf(part) - (part.entries.at(-1)?.bytes ?? 0)).toBeLessThan(logPartBytesMax);
  }
  expect(parts.length).toBeGreaterThan(count / 3);
});

it('large definitions are read from Redis once a process has put them there', async () => {
  const [first, second] = [stage.connect(), stage.connect()];
  await first.start();
  expect(first.follower.taken).toEqual({ redis: 0, postgres: count });
  await second.start();
  expect(second.follower.taken).toEqual({ redis: count, postgres: 0 });
});

it('a part that is full by its bytes ends with the version of its last entry', async () => {
  const part = await listLog(stage.management, 0);
  expect(part.upTo).toBe(part.entries.at(-1)?.version);
  expect(part.upTo).toBeLessThan(part.head.version);
  const rest = await listLog(stage.management, part.head.version - 1);
  expect([rest.entries.length, rest.upTo]).toEqual([1, rest.head.version]);
  const nothing = await listLog(stage.management, part.head.version);
  expect([nothing.entries.length, nothing.upTo]).toEqual([0, nothing.head.version]);
});

it('a start that a slow Postgres delays goes on, reports its progress and ends', async () => {
  const faults: unknown[] = [];
  const connection = stage.connect({ onFault: (error) => faults.push(error) });
  const held = admin.transaction(async (sql) => {
    await sql.query('LOCK TABLE definition_log IN ACCESS EXCLUSIVE MODE');
    // Longer than a statement may take.
    await waitFor(() => faults.length > 0, { timeoutMs: 30_000 });
    expect(connection.follower.loading).toBe('loading, version 0 of unknown');
  });
  await waitFor(async () => {
    const [row] = await stage.management.query<{ locked: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted
         AND relation = 'definition_log'::regclass) AS locked`,
    );
    return row?.locked;
  });
  await connection.start();
  await held;
  expect(connection.follower.loading).toBeUndefined();
  const definitions = await stage.current(connection);
  for (const id of ids) expect(definitions.find('reactor', stage.tenantId, id)).toBeDefined();
});
