import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from '@glovebox/testing';
import type { OwnProduct } from '../own-product';
import { describeProcess } from '../processes';
import { until } from '../product';

const run = promisify(execFile);
const name = 'glovebox_standby';

/** Runs a statement on a connection of its own. */
export async function rowsOf<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A second Postgres that follows the one of a product. */
export class Standby {
  private constructor(
    private readonly child: ChildProcess,
    private readonly primaryUrl: string,
    readonly url: string,
  ) {}

  /** From a copy of the files, as a base backup makes it. */
  static async follow(product: OwnProduct, { synchronous = false } = {}): Promise<Standby> {
    const { folder, databaseUrl } = product;
    const [primary, files] = [join(folder, 'postgres'), join(folder, 'standby')];
    await copyFiles(databaseUrl, primary, files);
    const { hostname, port, username, password } = new URL(databaseUrl);
    writeFileSync(join(files, 'standby.signal'), '');
    appendFileSync(
      join(files, 'postgresql.auto.conf'),
      `\nprimary_conninfo = 'host=${hostname} port=${port} user=${username} password=${password} application_name=${name}'\n`,
    );
    const ownPort = await freePort();
    const child = await startOn(product, commandOf(product), files, ownPort);
    const url = new URL(databaseUrl);
    url.port = String(ownPort);
    const standby = new Standby(child, databaseUrl, url.href);
    await standby.#follows('streaming');
    if (synchronous) {
      await setting(databaseUrl, 'synchronous_standby_names', name);
      await until(
        async () =>
          (await rowsOf(databaseUrl, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`))
            .length === 1,
      );
    }
    return standby;
  }

  /** From now on the primary commits what this one does not get. */
  async fallBehind(): Promise<void> {
    await setting(this.url, 'primary_conninfo', '');
    await until(
      async () => (await rowsOf(this.primaryUrl, 'SELECT FROM pg_stat_replication')).length === 0,
    );
  }

  async promote(): Promise<void> {
    await rowsOf(this.url, 'SELECT pg_promote(true, 60)');
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGINT');
    await exited;
  }

  #follows(state: string): Promise<void> {
    return until(
      async () =>
        (await rowsOf(this.primaryUrl, `SELECT FROM pg_stat_replication WHERE state = '${state}'`))
          .length === 1,
      60_000,
    );
  }
}

/** The program of the product's Postgres, while that runs. */
export const commandOf = ({ pids }: OwnProduct): string =>
  describeProcess(pids.postgres ?? 0).command[0] ?? '';

/** Starts a Postgres like that of the product on copied files. */
export async function startOn(
  { folder }: OwnProduct,
  command: string,
  files: string,
  port: number,
): Promise<ChildProcess> {
  const { uid, gid } = statSync(join(folder, 'postgres'));
  await run('chown', ['-R', `${uid}:${gid}`, files]);
  const settings = ['listen_addresses=127.0.0.1', 'max_connections=300'];
  return spawn(
    command,
    ['-D', files, '-p', String(port), '-k', '', ...settings.flatMap((one) => ['-c', one])],
    { env: { LC_ALL: 'C', TZ: 'UTC' }, uid, gid, cwd: '/', stdio: 'ignore' },
  );
}

async function setting(url: string, key: string, value: string): Promise<void> {
  await rowsOf(url, `ALTER SYSTEM SET ${key} = '${value}'`);
  await rowsOf(url, 'SELECT pg_reload_conf()');
}

/** Copies the files of a Postgres at work, by the same steps as pg_basebackup. */
export async function copyFiles(url: string, from: string, to: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SELECT pg_backup_start('copy', true)`);
    // A file may vanish meanwhile.
    await run('cp', ['-a', from, to]).catch(() => undefined);
    const { rows } = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(false)',
    );
    writeFileSync(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
    // Recovery needs what was written up to here.
    await run('cp', ['-a', `${join(from, 'pg_wal')}/.`, join(to, 'pg_wal')]);
    rmSync(join(to, 'postmaster.pid'), { force: true });
  } finally {
    await client.end();
  }
}
