import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { waitFor } from '@glovebox/testing';
import { keyRing, useTestStores } from './spec-api';

const stores = useTestStores();
const main = join(__dirname, '../../../dist/apps/management-api/main.js');
let child: ChildProcess | undefined;
let said = '';

afterAll(async () => {
  child?.kill('SIGTERM');
  if (child && child.exitCode === null) await once(child, 'exit');
});

it('for each port that is 0 the process takes a free one, and says which', async () => {
  const env = {
    ...{ PORT: '0', OPS_PORT: '0', CONSOLE_PORT: '0' },
    DATABASE_URL: stores.database.managementUrl,
    REDIS_URL: stores.redis.url,
    KEY_RING: keyRing,
  };
  child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout?.on('data', (part: Buffer) => (said += part.toString()));
  await waitFor(() => said.includes('"listening"'));
  const line = said.split('\n').find((each) => each.includes('"listening"')) ?? '';
  const { port, ops, consolePort } = JSON.parse(line) as Record<string, number>;
  expect((await fetch(`http://127.0.0.1:${port}/tokens`)).status).toBe(401);
  expect((await fetch(`http://127.0.0.1:${ops}/health/live`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${consolePort}/`)).status).toBe(200);
});
