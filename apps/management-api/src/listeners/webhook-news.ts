import { ofNoTenant } from '../database/in-tenant';
import type { SharedDataSource } from '../database/data-source';
import { listenersWithNews } from '@glovebox/runs';

const lookMs = 250;

/**
 * Wakes readings that wait for a webhook. Postgres is asked for all of them by one statement, so that none
 * holds a connection while it waits.
 */
export class WebhookNews {
  readonly #waiting = new Map<string, () => void>();
  #looking: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(private readonly dataSource: SharedDataSource) {}

  /** Until there is news for the listener, the time is over, or another reading waits in its place. */
  async wait(listenerId: string, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isClosed || signal.aborted || ms <= 0) return;
    this.#waiting.get(listenerId)?.();
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake, { once: true });
    this.#waiting.set(listenerId, wake);
    this.#look();
    await woken;
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    if (this.#waiting.get(listenerId) === wake) this.#waiting.delete(listenerId);
  }

  /** Ends all waiting: nobody waits for the end of this process. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#looking);
    for (const wake of this.#waiting.values()) wake();
  }

  #look(): void {
    if (this.#looking || this.#isClosed) return;
    this.#looking = setTimeout(() => {
      void this.#wakeThoseWithNews().finally(() => {
        this.#looking = undefined;
        if (this.#waiting.size > 0) this.#look();
      });
    }, lookMs);
  }

  async #wakeThoseWithNews(): Promise<void> {
    const ids = [...this.#waiting.keys()];
    // A store that is away is asked again.
    const found = await listenersWithNews(ofNoTenant(this.dataSource), ids).catch(() => []);
    for (const id of found) this.#waiting.get(id)?.();
  }
}
