import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createEmptyDatabase, startRedis } from '@glovebox/testing';
import { describeProcess, placeBeside } from './processes';
import { call, runningProduct, scriptEnvironment, until } from './product';

const product = runningProduct();

interface Started {
  readonly url: string;
  readonly said: string[];
  /** Throws what the app said if it has ended by itself. */
  stillRuns(): void;
  end(): Promise<void>;
}

/** Starts one more process of an app, on a database and a Redis of the test. */
async function start(app: string, env: Record<string, string>): Promise<Started> {
  const { command, env: own } = describeProcess(product.pids[app] ?? 0);
  const [file = '', ...args] = command;
  const { opsPort, settings } = await placeBeside();
  const child = spawn(file, args, {
    env: { ...own, ...env, ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const said: string[] = [];
  child.stdout.on('data', (lines: Buffer) => void said.push(String(lines)));
  const exited = once(child, 'exit');
  return {
    url: `http://127.0.0.1:${opsPort}`,
    said,
    stillRuns() {
      if (child.exitCode !== null) throw new Error(`${app} has ended: ${said.join('')}`);
    },
    async end() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

const health = async (url: string) => {
  const { status, body } = await call('GET', `${url}/health/ready`);
  return { status, components: body.components as Record<string, string> };
};

it('apps that start before the migrations wait, say which is missing, and are ready after them', async () => {
  const database = await createEmptyDatabase();
  const redis = await startRedis();
  const REDIS_URL = redis.url;
  const data = { DATABASE_URL: database.dataUrl, REDIS_URL };
  const apps = await Promise.all([
    start('management-api', { DATABASE_URL: database.managementUrl, REDIS_URL }),
    start('gateway', data),
    start('worker', data),
  ]);
  try {
    for (const { url, said } of apps) {
      await until(async () => (await health(url).catch(() => undefined))?.status === 503);
      await until(async () => (await health(url)).components.schema !== 'unknown');
      expect((await health(url)).components.schema).toMatch(/^behind: \w+ is missing$/);
      expect((await call('GET', `${url}/health/live`)).status).toBe(200);
      expect(said.join('')).toMatch(/not ready: .*RecordMigrations\d+.*npm run db:migrate -- up/);
    }
    await promisify(execFile)(
      process.execPath,
      [join(__dirname, '../dist/apps/management-api/migrate.main.js'), 'up'],
      { env: { ...scriptEnvironment(), DATABASE_URL: database.ownerUrl } },
    );
    for (const { url, stillRuns } of apps) {
      await until(async () => (await health(url)).status === 200, 20_000).finally(stillRuns);
      expect((await health(url)).components.schema).toBe('up');
    }
  } finally {
    await Promise.all(apps.map((app) => app.end()));
    await redis.kill();
    await database.drop();
  }
});
