import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { ready, startOwnProduct, type OwnProduct } from '../own-product';
import { AppProcess } from '../processes';
import { call, create, reactorOf, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { commandOf, copyFiles, rowsOf, startOn } from './standby';

jest.setTimeout(180_000);

const names = ['management-api', 'gateway', 'worker'] as const;

let product: OwnProduct;
let receiver: Receiver;
let command: string;
let postgres: ChildProcess | undefined;
let apps: AppProcess[] = [];

beforeAll(async () => {
  product = await startOwnProduct();
  command = commandOf(product);
  receiver = await startReceiver();
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.end()));
  await end('SIGINT');
  await product.stop();
  await receiver.close();
});

const pulse = async (): Promise<number> =>
  Number(
    (await rowsOf<{ pulse: string }>(product.databaseUrl, 'SELECT pulse FROM database_pulse'))[0]
      ?.pulse,
  );

async function end(signal: NodeJS.Signals): Promise<void> {
  if (!postgres || postgres.exitCode !== null) return;
  const exited = once(postgres, 'exit');
  postgres.kill(signal);
  await exited;
}

const stateOf = async (name: (typeof names)[number]): Promise<string> =>
  (await call('GET', `${product.opsUrls[name]}/health/ready`)).text;
const noneReady = async (): Promise<void> => {
  for (const name of names) {
    await until(
      async () => (await stateOf(name)).includes('restored, waits for after-restore'),
      30_000,
    );
  }
};

it.each(['kept', 'empty'])(
  'a base backup that is put back on its WAL is served from only after after-restore, with a Redis that is %s',
  async (redis) => {
    const reactorId = await reactorOf(product, 'module.exports = async () => ({ raw: {} });');
    const accept = () =>
      call('POST', `${product.baseUrl}/reactors/${reactorId}/react`, {
        key: product.privateKey,
        body: { callback_url: `${receiver.url}/hook` },
      });
    const worker = apps[2] ?? new AppProcess(product.pids.worker);
    worker.signal('SIGSTOP');
    const run = String((await accept()).body.async_request_id);
    const reported = (): number =>
      receiver.received.filter(({ headers }) => headers['webhook-id'] === `msg_${run}`).length;
    const files = join(product.folder, `backup-${redis}`);
    const current = redis === 'kept' ? 'postgres' : 'backup-kept';
    await copyFiles(product.databaseUrl, join(product.folder, current), files);
    worker.signal('SIGCONT');
    await until(() => Promise.resolve(reported() === 1), 30_000);
    // No definition changes after the backup: only the end of the run is lost. The pulse tells.
    const last = await pulse();
    await until(async () => (await pulse()) >= last + 2);

    if (apps.length === 0) apps = names.map((name) => new AppProcess(product.pids[name]));
    for (const app of apps) app.signal('SIGKILL');
    const port = Number(new URL(product.databaseUrl).port);
    await end('SIGKILL');
    writeFileSync(join(files, 'recovery.signal'), '');
    appendFileSync(join(files, 'postgresql.auto.conf'), `\nrestore_command = 'false'\n`);
    if (!postgres) process.kill(product.pids.postgres ?? 0, 'SIGKILL');
    await until(() =>
      rowsOf(product.databaseUrl, 'SELECT').then(
        () => false,
        () => true,
      ),
    );
    postgres = await startOn(product, command, files, port);
    const recovered = 'SELECT WHERE NOT pg_is_in_recovery()';
    await until(async () => (await rowsOf(product.databaseUrl, recovered)).length === 1, 30_000);
    if (redis === 'empty') {
      const client = new Redis(product.redisUrl);
      await client.flushall();
      client.disconnect();
    }
    for (const app of apps) app.restart();
    await noneReady();
    expect(await product.script('after-restore.mjs')).toContain('Held now: 1 runs, 0 webhooks');
    for (const name of names) await ready(product.opsUrls[name]);
    const fresh = String((await accept()).body.async_request_id);
    await until(
      () =>
        Promise.resolve(
          receiver.received.some(({ headers }) => headers['webhook-id'] === `msg_${fresh}`),
        ),
      30_000,
    );
    expect(reported()).toBe(1);
    await create(product, '/proxies', { name: 'new', destination_url: `${receiver.url}/` });
    expect(await product.script('after-restore.mjs', '--fail')).toContain('Failed: 1 runs');
  },
);
