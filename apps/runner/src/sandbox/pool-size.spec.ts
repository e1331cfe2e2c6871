import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { specConfig } from '../spec-runner';
import { poolMemoryOf, runningMax } from './pool-size';

const root = join(__dirname, '../../../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe.each([
  {
    where: 'Kubernetes',
    text: read('k8s/base/runner.yaml'),
    limit: /limits: \{ memory: (\d+)Gi \}/,
    setting: (name: string) => new RegExp(`name: ${name}, value: '(\\d+)'`),
  },
  {
    where: 'Docker Compose',
    text: read('docker/compose.yaml').split(/\n {2}runner:\n/)[1] ?? '',
    limit: /mem_limit: (\d+)g/,
    setting: (name: string) => new RegExp(`${name}: '(\\d+)'`),
  },
])('the runner in $where', ({ text, limit, setting }) => {
  const number = (pattern: RegExp): number => Number(pattern.exec(text)?.[1]);
  const limitMb = number(limit) * 1024;
  const { poolLimits, launchLimits } = specConfig('/tmp', {
    SANDBOX_POOL_MB: String(number(setting('SANDBOX_POOL_MB'))),
    SANDBOX_PROCESSES: String(number(setting('SANDBOX_PROCESSES'))),
  });
  const { memory, processesMax } = poolLimits;

  it('has more memory than its pool and the runner itself can take', () => {
    expect(limitMb).toBeGreaterThan(2_000);
    expect(memory.capMb + memory.runnerMb).toBeLessThanOrEqual(limitMb);
  });

  it('lets several sandboxes run at once, and has places for more than can run', () => {
    expect(runningMax(memory)).toBeGreaterThanOrEqual(4);
    expect(processesMax).toBeGreaterThan(runningMax(memory));
    expect(launchLimits.memoryMb).toBeLessThan(memory.sandboxMb);
  });
});

it('the memory that Kubernetes limits is also requested, as a full node ends what has more', () => {
  const [, requested, limited] =
    /requests: \{ cpu: '1', memory: (\w+) \}\s+limits: \{ memory: (\w+) \}/.exec(
      read('k8s/base/runner.yaml'),
    ) ?? [];
  expect(requested).toBeDefined();
  expect(requested).toBe(limited);
});

describe('the cap of the pool', () => {
  const settings = { poolMb: 0, sandboxMemoryMb: 384, genericProcesses: 2 };

  it('is what its setting says', () => {
    expect(poolMemoryOf({ ...settings, poolMb: 5_000 })).toEqual({
      ...{ capMb: 5_000, sandboxMb: 416, genericMb: 64, runnerMb: 512 + 11 * 96 },
    });
  });

  it('is derived otherwise, and is enough for four sandboxes that run', () => {
    expect(runningMax(poolMemoryOf(settings))).toBeGreaterThanOrEqual(4);
    expect(
      runningMax(poolMemoryOf({ ...settings, sandboxMemoryMb: 4_096 })),
    ).toBeGreaterThanOrEqual(4);
  });

  it.each([
    [4_096, 6],
    [6_144, 10],
    [16_384, 30],
  ])('leaves the runner its own memory in a container of %i MB', (containerMb, running) => {
    const memory = poolMemoryOf(settings, { machineMb: 65_536, containerMb });
    expect(runningMax(memory)).toBe(running);
    expect(memory.capMb + memory.runnerMb).toBeLessThanOrEqual(containerMb);
  });

  it('must have room for one sandbox', () => {
    expect(() => specConfig('/tmp', { SANDBOX_POOL_MB: '479' })).toThrow(
      'SANDBOX_POOL_MB must be at least 480',
    );
    specConfig('/tmp', { SANDBOX_POOL_MB: '480' });
  });
});
