import { setMaxListeners } from 'node:events';
import { Shares } from '@glovebox/shares';

/** Later: nothing of this tenant can be done right now. */
export type Ending = 'done' | 'later';

interface QueueOf<Job> {
  /** For the jobs of all tenants at once. */
  readonly places: number;
  /** Takes the tenant's next due job, which nobody else has then; undefined: none is due. */
  claim(tenantId: string): Promise<Job | undefined>;
  work(job: Job): Promise<Ending>;
  onFault(error: unknown): void;
}

/** How long a tenant is left alone whose job could not be done. */
const pauseMs = 1_000;
/** A tenant's turn comes before; if it does not, the next sweep puts the tenant into line again. */
const turnMs = 60 * 60 * 1_000;

/**
 * Does the due jobs of all tenants, in turn. The jobs are rows: here wait tenants alone, each at
 * most once, and a row is claimed only when there is a place for it. So it costs nothing here that a
 * tenant has a million of them.
 */
export class FairQueue<Job> {
  readonly shares: Shares;
  readonly #looking = new Map<string, { again: boolean }>();
  readonly #paused = new Set<string>();
  readonly #busy = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(private readonly queue: QueueOf<Job>) {
    this.shares = new Shares({ places: queue.places, waitMs: turnMs, waitingMax: 1 });
    setMaxListeners(0, this.#stopping.signal);
  }

  /** The tenant may have a due job: one that was there before this call is found. */
  wake(tenantId: string): void {
    if (this.#stopping.signal.aborted || this.#paused.has(tenantId)) return;
    const looking = this.#looking.get(tenantId);
    if (looking) looking.again = true;
    else this.#track(this.#look(tenantId));
  }

  /** Tenants that wait go at once; jobs that were claimed are done. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The queue has been stopped'));
    while (this.#busy.size > 0) await Promise.all(this.#busy);
  }

  /** One job after the other gets a place and is begun, as long as any is due. */
  async #look(tenantId: string): Promise<void> {
    const state = { again: false };
    this.#looking.set(tenantId, state);
    const { signal } = this.#stopping;
    try {
      for (;;) {
        const release = await this.shares.take(tenantId, { signal });
        state.again = false;
        let job: Job | undefined;
        try {
          if (!this.#paused.has(tenantId)) job = await this.queue.claim(tenantId);
        } finally {
          if (job === undefined) release();
        }
        if (job !== undefined) this.#track(this.#work(tenantId, job).finally(release));
        else if (!state.again) return;
      }
    } catch (error) {
      if (!signal.aborted) this.queue.onFault(error);
    } finally {
      this.#looking.delete(tenantId);
    }
  }

  async #work(tenantId: string, job: Job): Promise<void> {
    try {
      if ((await this.queue.work(job)) === 'later') this.#pause(tenantId);
    } catch (error) {
      this.queue.onFault(error);
    }
  }

  #pause(tenantId: string): void {
    if (this.#paused.has(tenantId)) return;
    this.#paused.add(tenantId);
    setTimeout(() => {
      this.#paused.delete(tenantId);
      this.wake(tenantId);
    }, pauseMs).unref();
  }

  #track(work: Promise<void>): void {
    this.#busy.add(work);
    void work.finally(() => this.#busy.delete(work));
  }
}
