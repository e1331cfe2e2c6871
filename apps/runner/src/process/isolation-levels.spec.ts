import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext } from '../context';
import { silent, specConfig, startSpecRunner } from '../spec-runner';
import { describeLevel, probe } from './isolation-levels';
import { launch, locateFiles, pidInside } from './launcher';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-levels-'));
const config = { ...specConfig(folder, { SANDBOX_LEVEL: 'auto' }), workDir: folder };

beforeAll(() => chmodSync(folder, 0o755));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['has no bubblewrap', undefined, 'bubblewrap is not installed'],
  ['denies bubblewrap its namespaces', '/bin/false', 'node16: the probe did not answer'],
])(
  'a runner on a machine that %s starts at level 2 and reports why not at 3',
  async (_, bwrap, why) => {
    const ctx = await createContext({ ...config, bwrap }, { logger: silent });
    try {
      expect({ level: ctx.level, rejected: ctx.rejected }).toEqual({
        level: 2,
        rejected: { 3: why },
      });
    } finally {
      await ctx.stop();
    }
  },
);

it('a runner that is told its level reports that as the reason', async () => {
  const ctx = await createContext({ ...config, level: '2' }, { logger: silent });
  expect(describeLevel(ctx)).toBe('level 2, not 3: SANDBOX_LEVEL is 2');
  await ctx.stop();
});

it('the probe finds an ordinary process open in every runtime, and leaves its own program alone', async () => {
  const files = locateFiles({ ...config, workDir: folder });
  const before = readFileSync(files.probe);
  const found = await probe({ files, limits: config.launchLimits, workDir: folder }, 0);
  expect(found).toMatch(
    /^node16: could read a file of the system, .*truncate a file of the runner/,
  );
  for (const fault of ['truncate a file that it may read', 'learn the status of a file', 'enter'])
    expect(found).toContain(fault);
  expect(readFileSync(files.probe).equals(before)).toBe(true);
});

describe.each([
  [
    'on Linux where nothing holds',
    'linux',
    /^no isolation .*not 3: .*Linux 5\.13.*ALLOW_WEAK=true$/,
  ],
  ['outside Linux', 'darwin', /^no isolation .*of Linux, this is darwin\).*ALLOW_WEAK=true$/],
] as const)('a runner %s', (_, platform, reason) => {
  const bare = { ...config, level: '3', bwrap: '/bin/false' } as const;

  it('refuses to start in one line that says why and what to do', async () => {
    await expect(createContext(bare, { logger: silent, platform })).rejects.toThrow(reason);
  });

  it('starts where the operator accepts that, and says so aloud', async () => {
    const warnings: string[] = [];
    const logger = { ...silent, warn: (_: object, text: string) => void warnings.push(text) };
    const weak = await createContext({ ...bare, allowWeak: true }, { logger, platform });
    try {
      expect(describeLevel(weak)).toMatch(/^level 0 \(weak: code is not contained\), not [23]: /);
      expect(warnings.join()).toContain('CUSTOMER CODE IS NOT CONTAINED');
    } finally {
      await weak.stop();
    }
  });
});

it('code runs on the Node of the runner outside Linux, for those who try things out', async () => {
  const env = { SANDBOX_ALLOW_WEAK: 'true' };
  const runner = await startSpecRunner(env, undefined, silent, 'darwin');
  const code = 'module.exports = () => ({ node: process.version })';
  expect(await runner.run(code)).toMatchObject({ value: { node: process.version } });
  await runner.stop();
});

it('a bubblewrap that hangs before it has started anything is ended', async () => {
  const bwrap = join(folder, 'hangs');
  writeFileSync(bwrap, '#!/bin/sh\nexec sleep 1000\n', { mode: 0o755 });
  const files = { ...locateFiles({ ...config, workDir: folder }), bwrap };
  const child = launch({
    ...{ files, level: 3, runtime: 'node20', limits: config.launchLimits, script: 'bootstrap' },
  });
  const ended = once(child, 'exit');
  expect(await pidInside(child, 200)).toBeUndefined();
  expect(await ended).toEqual([null, 'SIGKILL']);
});
