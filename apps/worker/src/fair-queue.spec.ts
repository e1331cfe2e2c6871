import { waitFor } from '@glovebox/testing';
import { loadWorkerConfig } from './config';
import { FairQueue } from './fair-queue';

const { RUN_CONCURRENCY: places } = loadWorkerConfig({
  DATABASE_URL: 'postgres://127.0.0.1/glovebox',
  REDIS_URL: 'redis://127.0.0.1',
  KEY_RING: `1:${Buffer.alloc(32).toString('base64')}`,
  RUNNER_URLS: 'unix:/runner.sock',
  RUNNER_SECRET: 'secret',
});

interface Job {
  readonly tenantId: string;
  end(): void;
}

/** The places of a worker, for tenants whose jobs do not end by themselves. */
class EndlessJobs {
  /** In the order of their starts. */
  readonly started: Job[] = [];
  readonly queue = new FairQueue<string>({
    places,
    claimedAtOnce: 10,
    claim: (tenantId, atMost) => Promise.resolve(Array.from({ length: atMost }, () => tenantId)),
    work: (tenantId) =>
      new Promise((resolve) => {
        this.started.push({ tenantId, end: () => resolve('done') });
      }),
    onFault: (error) => {
      throw error;
    },
  });
  #woken = 0;

  /** Wakes a tenant that has any number of jobs, and returns how many have begun. */
  async wake(tenantId: string): Promise<number> {
    this.queue.wake(tenantId);
    this.#woken += 1;
    // Each tenant waits for one more place than it has.
    await waitFor(() => this.queue.shares.state.waiting === this.#woken);
    return this.queue.shares.heldBy(tenantId);
  }

  async stop(): Promise<void> {
    const stopped = this.queue.stop();
    for (const job of this.started) job.end();
    await stopped;
  }
}

let jobs: EndlessJobs;
beforeEach(() => (jobs = new EndlessJobs()));
afterEach(() => jobs.stop());

describe('a worker of default settings', () => {
  it('has a place for a sixth tenant at once, although the jobs of five never end', async () => {
    const begun: number[] = [];
    for (let nth = 1; nth <= 6; nth += 1) begun.push(await jobs.wake(`tenant ${nth}`));
    expect(begun).toEqual([16, 8, 4, 2, 1, 1]);
  });

  it('gives each place that is freed to a tenant that has none, so that each of 41 has its turn', async () => {
    const tenants = Array.from({ length: 41 }, (_, nth) => `tenant ${nth + 1}`);
    for (const tenantId of tenants) await jobs.wake(tenantId);
    expect(jobs.started).toHaveLength(places);
    for (let nth = 0; nth < tenants.length; nth += 1) {
      jobs.started[nth]?.end();
      await waitFor(() => jobs.started.length > places + nth);
      const next = jobs.started.at(-1)?.tenantId ?? '';
      expect(jobs.queue.shares.heldBy(next)).toBe(1);
    }
    expect(new Set(jobs.started.map(({ tenantId }) => tenantId))).toEqual(new Set(tenants));
  });
});
