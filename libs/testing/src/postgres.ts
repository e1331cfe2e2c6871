import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { certificateFiles, type Certificate } from './certificate-files';
import { fromTestRun } from './environment';
import { freePort } from './free-port';
import { waitFor } from './wait-for';

/** A server that a test may stop, and whose certificate it may exchange. */
export interface PrivatePostgres {
  /** Of the superuser, at `localhost`. With a certificate it refuses whoever speaks no TLS. */
  readonly url: string;
  readonly port: number;
  /** New connections see the other certificate. */
  exchange(certificate: Certificate): Promise<void>;
  stop(): Promise<void>;
}

interface Server {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

const password = 'a password of a spec';

/** Starts a Postgres of the product's build with new data, and deletes the data at the end. */
export async function startPostgres({
  tls,
  settings = [],
}: {
  readonly tls?: Certificate;
  readonly settings?: readonly string[];
} = {}): Promise<PrivatePostgres> {
  const { folder: binaries, ...user } = JSON.parse(fromTestRun('TEST_POSTGRES_SERVER')) as Server;
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-postgres-'));
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  }
  const data = join(folder, 'data');
  const initialise = [`--pgdata=${data}`, `--pwfile=${passwordFile}`, '--username=postgres'];
  const plain = ['--auth=scram-sha-256', '--encoding=UTF8', '--no-locale', '--no-sync'];
  execFileSync(join(binaries, 'initdb'), [...initialise, ...plain], {
    ...user,
    cwd: '/',
    stdio: 'pipe',
  });
  const files = tls && certificateFiles(tls, user);
  if (files) {
    const onlyTls = 'hostssl all all all scram-sha-256\n';
    writeFileSync(join(data, 'pg_hba.conf'), onlyTls);
  }
  const port = await freePort();
  const all = [
    'listen_addresses=127.0.0.1',
    'fsync=off',
    ...(files ? ['ssl=on', `ssl_cert_file=${files.cert}`, `ssl_key_file=${files.key}`] : []),
    ...settings,
  ];
  const child = spawn(
    join(binaries, 'postgres'),
    ['-D', data, '-p', String(port), '-k', '', ...all.flatMap((one) => ['-c', one])],
    { ...user, cwd: '/', stdio: 'ignore' },
  );
  const exited = once(child, 'exit');
  const url = `postgres://postgres:${encodeURIComponent(password)}@localhost:${port}/postgres`;
  const connect = async (): Promise<{ readonly fingerprint: string | undefined }> => {
    if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}`);
    const ssl = files && { rejectUnauthorized: false };
    const client = new Client({ connectionString: url, ...(ssl && { ssl }) });
    await client.connect();
    const { stream } = (client as unknown as { connection: { stream: object } }).connection;
    const shown = stream as { getPeerCertificate?(): { fingerprint256: string } };
    const fingerprint = shown.getPeerCertificate?.().fingerprint256;
    await client.end();
    return { fingerprint };
  };
  await waitFor(async () => await connect(), { timeoutMs: 20_000 });
  return {
    url,
    port,
    async exchange(certificate) {
      const { fingerprint } = await connect();
      files?.replace(certificate);
      child.kill('SIGHUP');
      await waitFor(async () => (await connect()).fingerprint !== fingerprint);
    },
    async stop() {
      child.kill('SIGINT');
      await exited;
      files?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
