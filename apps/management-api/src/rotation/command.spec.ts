import { execFile } from 'node:child_process';
import { freePort } from '@glovebox/testing';
import { useTestStores } from '../spec-api';
import { createTenant } from '../tenants/create-tenant';
import { ringOf, rotationEnvironment, startProcess } from './spec-rotation';

const stores = useTestStores();

beforeAll(async () => {
  const ctx = await startProcess(stores, ringOf(1));
  await createTenant(ctx, { name: 'T', demo: true });
  await ctx.close();
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(file: string, args: readonly string[], env: Record<string, string>): Promise<Outcome> {
  const main = `${__dirname}/../../../../dist/apps/management-api/${file}`;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], { env }, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

const rotate = (ring: string, ...args: string[]): Promise<Outcome> =>
  run('keys-rotate.main.js', args, rotationEnvironment(stores, ring));

it('the rotation command prints its help without any setting', async () => {
  const { code, stdout } = await run('keys-rotate.main.js', ['--help'], {});
  expect(code).toBe(0);
  for (const word of ['--to', '--status', 'glovebox_rotation', 'KEY_RING', 'REDIS_URL']) {
    expect(stdout).toContain(word);
  }
});

it.each([
  [['--to', 'x'], '--to must be the version of a key in KEY_RING, not "x"'],
  [['--to', '9'], 'The key ring has no master key of version 9'],
  [['--status', '--to', '1'], '--status cannot be combined with --to'],
  [['--everything'], "Unknown option '--everything'"],
])('the rotation command refuses %j and changes nothing', async (args, reason) => {
  const { code, stdout, stderr } = await rotate(ringOf(1, 2), ...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(reason);
  expect((await rotate(ringOf(1, 2), '--status')).stdout).toMatch(/^1 .*seals$/m);
});

it('the rotation command refuses a ring without the sealing key before it changes anything', async () => {
  const { code, stderr } = await rotate(ringOf(2));
  expect(code).toBe(1);
  expect(stderr.trim()).toBe('The key ring has no master key of version 1');
  expect((await rotate(ringOf(1, 2), '--status')).stdout).toMatch(/^1 .*seals$/m);
});

it('the rotation command says when the old key may go, and an app without the new key why it does not start', async () => {
  expect(table((await rotate(ringOf(1, 2), '--status')).stdout)).toMatchObject([
    { version: '1', verdict: 'seals' },
    { version: '2', verdict: 'does not seal yet' },
  ]);
  const rotated = await rotate(ringOf(1, 2));
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  expect(rotated.stdout).toMatch(
    /^Version 2 seals\. Sealed anew: \d+ data keys, 3 definitions\.$/m,
  );
  const wanted = [
    { version: '1', verdict: 'may be taken out of KEY_RING' },
    { version: '2', verdict: 'seals' },
  ];
  expect(table((await rotate(ringOf(1, 2), '--status')).stdout)).toEqual(wanted);
  expect(table((await rotate(ringOf(1), '--status')).stdout)).toEqual([
    wanted[0],
    { version: '2', verdict: 'SEALS AND IS MISSING HERE' },
  ]);
  expect((await rotate(ringOf(1, 2), '--to', '1')).stderr).toContain('Version 2 seals already');
  expect(await rotate(ringOf(1, 2))).toMatchObject({ code: 0 });

  const app = await run('main.js', [], {
    DATABASE_URL: stores.database.managementUrl,
    REDIS_URL: stores.redis.url,
    KEY_RING: ringOf(1),
    PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
  });
  expect(app.code).toBe(1);
  expect(app.stdout).toContain('could not start: The key ring has no master key of version 2');
});

/** The version and the verdict of each line below the heading. */
function table(status: string): { version: string; verdict: string }[] {
  const [heading = '', ...lines] = status.trim().split('\n');
  const at = heading.indexOf('in Redis') + 'in Redis     '.length;
  return lines.map((line) => ({
    version: line.split(' ')[0] ?? '',
    verdict: line.slice(at).trim(),
  }));
}
