import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunnerClient } from '@glovebox/sandbox';
import { freePort, waitFor } from '@glovebox/testing';
import { specSecret } from './spec-runner';

const setpriv = '/usr/bin/setpriv';
/** Any other runner owns its sandboxes, and may slow them down without a capability. */
const isLacking = process.getuid?.() === 0 && existsSync(setpriv);

it('a runner that is root and lacks CAP_SYS_NICE runs code all the same, and says once that it lacks it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-runner-spec-'));
  const listen = `unix:${join(folder, 'runner.sock')}`;
  const main = join(__dirname, '../../../dist/apps/runner/main.js');
  const [command = '', ...parameters] = [
    ...(isLacking ? [setpriv, '--bounding-set=-sys_nice', '--inh-caps=-sys_nice'] : []),
    ...[process.execPath, main],
  ];
  const runner = spawn(command, parameters, {
    env: {
      RUNNER_LISTEN: listen,
      RUNNER_SECRET: specSecret,
      RUNNER_RUNTIMES_DIR: join(__dirname, '../runtimes'),
      RUNNER_NATIVE_DIR: join(__dirname, '../native/prebuilt'),
      SANDBOX_LEVEL: '2',
      OPS_PORT: String(await freePort()),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(runner, 'exit');
  let log = '';
  runner.stdout.on('data', (chunk) => (log += String(chunk)));
  const client = createRunnerClient({ urls: [listen], secret: specSecret });
  try {
    await waitFor(() => log.includes('listening'), { timeoutMs: 15_000 });
    for (const tenantId of ['a', 'b', 'c']) {
      const code = 'module.exports = () => ({ raw: 1 })';
      const outcome = await client.run(
        {
          ...{
            kind: 'reactor',
            tenantId,
            code,
            codeHash: code,
            resourceId: 'reactor',
            runtime: 'node20',
          },
          ...{ applicationId: null, isolation: 'run', args: {}, configuration: {}, svc: false },
          ...{ timeoutMs: 10_000, resultBytesMax: 1024 },
        },
        { onCall: () => Promise.reject(new Error('no svc in this spec')) },
      );
      expect(outcome).toMatchObject({ kind: 'returned' });
    }
    expect(log.match(/CAP_SYS_NICE/g)?.length ?? 0).toBe(isLacking ? 1 : 0);
  } finally {
    await client.close();
    runner.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
}, 30_000);
