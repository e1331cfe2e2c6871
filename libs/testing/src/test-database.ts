import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { fromTestRun } from './environment';

export interface TestDatabase {
  readonly name: string;
  /** As the role of migrations, which owns every table. */
  readonly ownerUrl: string;
  /** As the role of the management API. */
  readonly managementUrl: string;
  /** As the role of gateway and worker. */
  readonly dataUrl: string;
  /** As the role of the command that rotates the master key. */
  readonly rotationUrl: string;
  /** As the superuser, for tests that must look past row-level security. */
  readonly adminUrl: string;
  drop(): Promise<void>;
}

/** Creates a migrated database for one suite, a copy of the template of this test run. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const template = fromTestRun('TEST_TEMPLATE_DATABASE');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin(`CREATE DATABASE "${name}" TEMPLATE "${template}" OWNER glovebox_owner`);
  // A log of its own: else two suites on one Redis would follow each other's.
  await asAdmin('UPDATE definition_head SET epoch = gen_random_uuid()', urlFor(name));
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
