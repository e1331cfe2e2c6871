import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createTestDatabase, startRedis, waitFor } from '@glovebox/testing';

const main = join(__dirname, '../../../dist/apps/gateway/main.js');
let child: ChildProcess | undefined;
let redis: Awaited<ReturnType<typeof startRedis>>;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let said = '';

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), startRedis()]);
});
afterAll(async () => {
  child?.kill('SIGTERM');
  if (child && child.exitCode === null) await once(child, 'exit');
  await redis.stop();
  await database.drop();
});

it('for each port that is 0 the process takes a free one, and says which', async () => {
  const env = {
    ...{ PORT: '0', OPS_PORT: '0', FORWARD_PORT: '0' },
    DATABASE_URL: database.dataUrl,
    REDIS_URL: redis.url,
    KEY_RING: `1:${randomBytes(32).toString('base64')}`,
    RUNNER_URLS: 'unix:/nonexistent/runner.sock',
    RUNNER_SECRET: 'secret',
  };
  child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout?.on('data', (part: Buffer) => (said += part.toString()));
  await waitFor(() => said.includes('"listening"'));
  const line = said.split('\n').find((each) => each.includes('"listening"')) ?? '';
  const { port, ops, forwardPort } = JSON.parse(line) as Record<string, number>;
  expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${ops}/health/live`)).status).toBe(200);
  expect(await (await fetch(`http://127.0.0.1:${forwardPort}/`)).text()).toContain('forward proxy');
});
