import { setMaxListeners } from 'node:events';
import { Shares, type Release } from '@glovebox/shares';

/** `later`: no job of this tenant can be done right now. */
export type Ending = 'done' | 'later';

interface QueueOf<Job> {
  /** Places for the jobs of all tenants together. */
  readonly places: number;
  /** Jobs that one claim takes. A claim is a commit, whatever it claims. */
  readonly claimedAtOnce: number;
  /** Claims the tenant's next due jobs, at most so many. None: none is due. */
  claim(tenantId: string, atMost: number): Promise<readonly Job[]>;
  work(job: Job): Promise<Ending>;
  onFault(error: unknown): void;
}

/** A tenant whose job could not be done is left alone this long. */
const pauseMs = 1_000;
/** A tenant's turn comes earlier. If it does not, the next sweep queues the tenant again. */
const turnMs = 60 * 60 * 1_000;

/**
 * Does the due jobs of all tenants, in turn. The jobs are rows. Only tenants wait here, each at
 * most once, and a row is claimed only when there is a place for it. A tenant with a million jobs
 * therefore costs nothing here.
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

  /** Looks for due jobs of the tenant. A job that was due before this call is found. */
  wake(tenantId: string): void {
    if (this.#stopping.signal.aborted || this.#paused.has(tenantId)) return;
    const looking = this.#looking.get(tenantId);
    if (looking) looking.again = true;
    else this.#track(this.#look(tenantId));
  }

  /** Lets go of waiting tenants at once, and waits for the jobs that were claimed. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The queue has been stopped'));
    while (this.#busy.size > 0) await Promise.all(this.#busy);
  }

  /** Claims and begins jobs, each in a place, until none is due. */
  async #look(tenantId: string): Promise<void> {
    const state = { again: false };
    this.#looking.set(tenantId, state);
    const { signal } = this.#stopping;
    try {
      for (;;) {
        const places = await this.#takePlaces(tenantId);
        state.again = false;
        let jobs: readonly Job[] = [];
        try {
          if (!this.#paused.has(tenantId)) jobs = await this.queue.claim(tenantId, places.length);
        } finally {
          for (const release of places.slice(jobs.length)) release();
        }
        jobs.forEach((job, nth) => this.#track(this.#work(tenantId, job).finally(places[nth])));
        if (jobs.length === 0 && !state.again) return;
      }
    } catch (error) {
      if (!signal.aborted) this.queue.onFault(error);
    } finally {
      this.#looking.delete(tenantId);
    }
  }

  /** Waits for one place, and takes those beside it that the tenant may have at once. */
  async #takePlaces(tenantId: string): Promise<readonly Release[]> {
    const places = [await this.shares.take(tenantId, { signal: this.#stopping.signal })];
    while (places.length < this.queue.claimedAtOnce && this.shares.hasRoom(tenantId)) {
      places.push(this.shares.takeNow(tenantId));
    }
    return places;
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
