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
  const machineMb = 65_536;

  it('is what its setting says, and 11 sandboxes of 384 MB run in 5,000 MB', () => {
    const memory = poolMemoryOf({ ...settings, poolMb: 5_000 });
    expect(memory).toEqual({ capMb: 5_000, sandboxMb: 416, genericMb: 64, runnerMb: 1_568 });
    expect(runningMax(memory)).toBe(11);
  });

  it.each([
    ['a container of 4 GB', 4_096, 2, { capMb: 2_975, running: 6, runnerMb: 1_088 }],
    ['a container of 6 GB', 6_144, 2, { capMb: 4_639, running: 10, runnerMb: 1_472 }],
    ['a container of 16 GB', 16_384, 2, { capMb: 12_959, running: 30, runnerMb: 3_392 }],
    [
      'a container of 6 GB for 4 runtimes',
      6_144,
      4,
      { capMb: 4_672, running: 10, runnerMb: 1_472 },
    ],
    ['a machine of 64 GB', Infinity, 2, { capMb: 49_152, running: 118, runnerMb: 11_840 }],
  ])('in %s is derived from its memory', (_, containerMb, genericProcesses, expected) => {
    const memory = poolMemoryOf({ ...settings, genericProcesses }, { machineMb, containerMb });
    const { capMb, runnerMb } = memory;
    expect({ capMb, running: runningMax(memory), runnerMb }).toEqual(expected);
  });

  it('and the runner fit into any container that has room for four sandboxes', () => {
    let before = 0;
    for (let containerMb = 3_000; containerMb <= 20_000; containerMb += 37) {
      const memory = poolMemoryOf(settings, { machineMb, containerMb });
      const { capMb, sandboxMb, genericMb, runnerMb } = memory;
      const running = runningMax(memory);
      expect(capMb + runnerMb).toBeLessThanOrEqual(containerMb);
      expect(running * sandboxMb + genericMb).toBeLessThanOrEqual(capMb);
      // More memory never makes it less, and none is left that one more sandbox could have.
      expect(running).toBeGreaterThanOrEqual(Math.max(4, before));
      expect((running + 1) * (sandboxMb + 96) + genericMb + 512).toBeGreaterThan(containerMb);
      before = running;
    }
  });

  it('has room for four sandboxes on a small machine, however large they are', () => {
    for (const sandboxMemoryMb of [192, 384, 4_096]) {
      const small = { machineMb: 1_024, containerMb: Infinity };
      const memory = poolMemoryOf({ ...settings, sandboxMemoryMb }, small);
      expect(runningMax(memory)).toBe(4);
    }
  });

  it('must have room for one sandbox', () => {
    const env = { RUNNER_RUNTIMES: 'node16,node20' };
    expect(() => specConfig('/tmp', { ...env, SANDBOX_POOL_MB: '479' })).toThrow(
      'SANDBOX_POOL_MB must be at least 480',
    );
    specConfig('/tmp', { ...env, SANDBOX_POOL_MB: '480' });
  });
});
