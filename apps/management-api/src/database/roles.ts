import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { parseStoreUrl } from '@glovebox/store-urls';

interface RolePasswords {
  readonly owner: string;
  readonly management: string;
  readonly data: string;
  readonly rotation: string;
}

/**
 * Creates or corrects the four roles. None has rights over the server, and only the owner has
 * rights over the schema.
 */
export async function ensureRoles(adminUrl: string, passwords: RolePasswords): Promise<void> {
  const { url, tls } = parseStoreUrl(adminUrl);
  const client = new Client({
    connectionString: url,
    ...(tls && { ssl: tls }),
    application_name: 'roles',
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  try {
    await client.query('BEGIN');
    // Two concurrent runs would both find a role missing.
    await client.query(`SELECT pg_advisory_xact_lock(hashtext('glovebox roles'))`);
    const superuser = await isSuperuser(client);
    for (const [name, password] of [
      ['glovebox_owner', passwords.owner],
      ['glovebox_management', passwords.management],
      ['glovebox_data', passwords.data],
      ['glovebox_rotation', passwords.rotation],
    ] as const) {
      await ensureRole(client, { name, password, superuser });
    }
    await giveDatabase(client, superuser);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

async function isSuperuser(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ superuser: boolean }>(
    'SELECT rolsuper AS superuser FROM pg_roles WHERE rolname = current_user',
  );
  return rows[0]?.superuser ?? false;
}

async function ensureRole(
  client: Client,
  role: { name: string; password: string; superuser: boolean },
): Promise<void> {
  const found = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role.name]);
  const verb = found.rowCount === 0 ? 'CREATE' : 'ALTER';
  // Only a superuser may set the attributes that only a superuser can grant.
  const powerless = role.superuser ? 'NOSUPERUSER NOBYPASSRLS NOREPLICATION' : '';
  await client.query(
    `${verb} ROLE ${role.name} LOGIN NOCREATEDB NOCREATEROLE ${powerless}
     PASSWORD ${escapeLiteral(role.password)}`,
  );
  // The default cost model assumes spinning disks and prefers reading whole tables to indexes.
  await client.query(`ALTER ROLE ${role.name} SET random_page_cost = 1.1`);
}

async function giveDatabase(client: Client, superuser: boolean): Promise<void> {
  // A role without superuser rights must be a member of the new owner to transfer ownership.
  if (!superuser) await client.query('GRANT glovebox_owner TO CURRENT_USER');
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
  const database = escapeIdentifier(rows[0]?.name ?? '');
  await client.query(`ALTER DATABASE ${database} OWNER TO glovebox_owner`);
  await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
  await client.query(
    `GRANT CONNECT ON DATABASE ${database}
     TO glovebox_management, glovebox_data, glovebox_rotation`,
  );
}
