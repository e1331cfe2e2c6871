import type { DataSource, EntityManager } from 'typeorm';
import { bringOnFrom60233aa } from '../migrations/from-60233aa';

/** The commit that has all of them. */
const commit = '9128e1acf479dd16202ff9a4a676e96784c23f00';

/** What databases recorded that were made before one migration made the whole schema. */
export const formerMigrations: readonly string[] = [
  'CreateDefinitionLog0000000000001',
  'CreateResources0000000000002',
  'CreateVault0000000000003',
  'CreateRuns0000000000004',
  'IndexAuditLog0000000000005',
  'CreateIdempotencyKeys0000000000007',
  'CoverLists0000000000009',
  'RecordKeyUses0000000000010',
  'DeleteTenants0000000000011',
  'AddTlsToProxies0000000000012',
  'CompleteVault0000000000013',
  'RotateMasterKeys0000000000014',
  'CountDefinitions0000000000017',
  'BindReplaysToGrants0000000000018',
  'ShareOutQueues0000000000026',
  'AddStepsToProxies0000000000028',
  'CountWhatWasSent0000000000031',
  'ClearAwayInWorkers0000000000032',
  'ListWaitingWork0000000000033',
  'LogEndedWork0000000000034',
  'BoundAuditLog0000000000035',
  'PartitionAuditLog0000000000036',
  'KeepOutcomesOfRuns0000000000037',
  'GiveWebhooksPlaces0000000000038',
  'RememberWhatAnswersShow0000000000039',
  'CountTokens0000000000040',
  'OrderLists0000000000041',
  'TellWebhookPaths0000000000042',
];

/** Those that commit 60233aa had. */
const doneAt60233aa = formerMigrations.slice(0, 24);

type History = 'ours' | 'all former' | 'as of 60233aa';

/** Tells how a database was made by the names that it recorded. Throws where `up` cannot go on. */
export function historyOf(source: DataSource, recorded: readonly string[]): History {
  const known = new Set(source.migrations.map((migration) => migration.constructor.name));
  const others = new Set(recorded.filter((name) => !known.has(name)));
  if (others.size === 0) return 'ours';
  const newer = [...others].filter((name) => !formerMigrations.includes(name));
  if (newer.length > 0) throw new Error(unknownMigrations(newer));
  if (others.size === formerMigrations.length) return 'all former';
  if (others.size === doneAt60233aa.length && doneAt60233aa.every((name) => others.has(name))) {
    return 'as of 60233aa';
  }
  throw new Error(missingMigrations(others.size));
}

/**
 * Replaces the former names by that of the migration that makes the same schema, in one
 * transaction. Does nothing to other databases.
 */
export async function adoptFormerSchema(source: DataSource): Promise<void> {
  const added = await newerExpansions(source);
  const others = (await recordedNames(source.manager)).filter((name) => !added.includes(name));
  if (historyOf(source, others) === 'ours') return;
  await source.transaction(async (sql) => {
    // Another process may be at it.
    await sql.query('LOCK TABLE migrations IN EXCLUSIVE MODE');
    const history = historyOf(source, await recordedNames(sql));
    if (history === 'ours') return;
    if (history === 'as of 60233aa') await bringOnFrom60233aa(sql);
    await sql.query('DELETE FROM migrations');
    await sql.query(
      `INSERT INTO migrations (timestamp, name) VALUES (1, 'CreateSchema0000000000001')`,
    );
  });
}

export async function recordedNames(sql: EntityManager): Promise<string[]> {
  const [table] = await sql.query<{ isThere: boolean }[]>(
    `SELECT to_regclass('migrations') IS NOT NULL AS "isThere"`,
  );
  if (!table?.isThere) return [];
  const rows = await sql.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  return rows.map(({ name }) => name);
}

/** What a newer release added. This release runs beside it. */
export async function newerExpansions(source: DataSource): Promise<string[]> {
  const known = source.migrations.map((migration) => migration.constructor.name);
  const [table] = await source.query<{ isThere: boolean }[]>(
    `SELECT to_regclass('done_migrations') IS NOT NULL AS "isThere"`,
  );
  if (!table?.isThere) return [];
  const rows = await source.query<{ name: string }[]>(
    `SELECT name FROM done_migrations WHERE kind = 'expand' AND name <> ALL ($1) ORDER BY name`,
    [known],
  );
  return rows.map(({ name }) => name);
}

const unknownMigrations = (names: readonly string[]): string =>
  `Nothing was changed: this database has migrations that this code does not know (${names.join(', ')}).
A newer release made them. Use that release, or take them back with it first: npm run db:migrate -- down`;

const missingMigrations = (
  done: number,
): string => `Nothing was changed: this database has ${done} of the ${formerMigrations.length} migrations that are one now.
Bring it to the last of them with commit ${commit}, which has them all:
  git checkout ${commit}
  npm ci --ignore-scripts
  npm run db:migrate -- up                (with DATABASE_URL, or beside a running npm start)
  git checkout -
  npm ci --ignore-scripts
Then migrate again. A folder of npm start is brought there by npm start and npm stop at that commit.
With images, run migrate.main.js of a management-api image of that commit: see "Upgrading" in docs/operating.md.`;
