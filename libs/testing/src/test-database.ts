import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { fromTestRun } from './environment';

export interface TestDatabase {
  readonly name: string;
  /** For the role of migrations, which owns every table. */
  readonly ownerUrl: string;
  /** For the role of the management API. */
  readonly managementUrl: string;
  /** For the role of gateway and worker. */
  readonly dataUrl: string;
  /** For the role of the command that rotates the master key. */
  readonly rotationUrl: string;
  /** For the superuser: some tests must look past row-level security. */
  readonly adminUrl: string;
  drop(): Promise<void>;
}

interface Connection {
  close(): Promise<unknown>;
}

interface SpecDatabase extends TestDatabase {
  /** Closes the connection before the database is dropped. */
  closing<Opened extends Connection>(connection: Opened): Opened;
}

/**
 * Creates a database before the first test of a spec and drops it after the last. The members are
 * there from `beforeAll` on.
 */
export function useTestDatabase(): SpecDatabase {
  const connections: Connection[] = [];
  const database = {
    closing: (connection: Connection) => {
      connections.push(connection);
      return connection;
    },
  } as SpecDatabase;
  beforeAll(async () => {
    Object.assign(database, await createTestDatabase());
  });
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await database.drop();
  });
  return database;
}

/** Creates a migrated database for one suite, a copy of the template of this test run. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await copyOf(fromTestRun('TEST_TEMPLATE_DATABASE'));
  // A log of its own: else two suites on one Redis would follow each other's.
  await asAdmin(
    `UPDATE definition_head SET epoch = gen_random_uuid(), installation = gen_random_uuid(),
       (place, timeline) = (SELECT place, timeline FROM this_database())`,
    database.adminUrl,
  );
  return database;
}

/** Creates a database without any table. */
export const createEmptyDatabase = (): Promise<TestDatabase> => copyOf('template0');

async function copyOf(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin(`CREATE DATABASE "${name}" TEMPLATE "${template}" OWNER glovebox_owner`);
  return {
    name,
    ownerUrl: urlFor(name, 'glovebox_owner', fromTestRun('TEST_OWNER_PASSWORD')),
    managementUrl: urlFor(name, 'glovebox_management', fromTestRun('TEST_MANAGEMENT_PASSWORD')),
    dataUrl: urlFor(name, 'glovebox_data', fromTestRun('TEST_DATA_PASSWORD')),
    rotationUrl: urlFor(name, 'glovebox_rotation', fromTestRun('TEST_ROTATION_PASSWORD')),
    adminUrl: urlFor(name),
    drop: () => asAdmin(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`),
  };
}

function urlFor(database: string, user?: string, password?: string): string {
  const url = new URL(fromTestRun('TEST_ADMIN_DATABASE_URL'));
  url.pathname = `/${database}`;
  if (user !== undefined) url.username = user;
  if (password !== undefined) url.password = password;
  return url.href;
}

async function asAdmin(
  statement: string,
  connectionString = fromTestRun('TEST_ADMIN_DATABASE_URL'),
): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
