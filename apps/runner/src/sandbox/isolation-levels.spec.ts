import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext } from '../context';
import { silent, specConfig } from '../spec-runner';

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
