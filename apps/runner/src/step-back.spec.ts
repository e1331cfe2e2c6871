import { existsSync } from 'node:fs';
import { createRunnerClient } from '@glovebox/sandbox';
import { startRunner } from '@glovebox/testing';

const setpriv = '/usr/bin/setpriv';
/** Any other runner owns its sandboxes, and needs no capability to lower their priority. */
const isLacking = process.getuid?.() === 0 && existsSync(setpriv);

it('a runner that is root and lacks CAP_SYS_NICE runs code all the same, and logs once that it lacks it', async () => {
  const runner = await startRunner({
    command: isLacking ? [setpriv, '--bounding-set=-sys_nice', '--inh-caps=-sys_nice'] : [],
  });
  const client = createRunnerClient({ urls: [runner.url], secret: runner.secret });
  try {
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
          ...{ urgency: 'sync', timeoutMs: 10_000, resultBytesMax: 1024 },
        },
        { onCall: () => Promise.reject(new Error('no svc in this spec')) },
      );
      expect(outcome).toMatchObject({ kind: 'returned' });
    }
    expect(runner.log().match(/CAP_SYS_NICE/g)?.length ?? 0).toBe(isLacking ? 1 : 0);
  } finally {
    await client.close();
    await runner.stop();
  }
});
