import { errorOf } from './errors';
import { pause, type CallOptions } from './send';
import type { components } from './api';
import type { Glovebox } from './glovebox';

export type ReactorResponse = components['schemas']['ReactorResponse'];

type Ended = components['schemas']['RunResult'];

const firstWaitMs = 100;
const longestWaitMs = 5_000;

/** A run in the background. Its webhook has its id: `webhook-id: msg_ID`. */
export class AsyncRun {
  constructor(
    private readonly glovebox: Pick<Glovebox, 'get'>,
    private readonly reactorId: string,
    readonly id: string,
  ) {}

  /** Waits for the result, and throws the error of a run that failed. Kept for 24 hours. */
  async result(options: CallOptions = {}): Promise<ReactorResponse> {
    const { status, result, error } = await this.ended(options);
    if (status === 'completed') return result as ReactorResponse;
    throw errorOf(error as NonNullable<typeof error>);
  }

  /** Waits for the end, and answers how it ended. `retries` are those of each question. */
  async ended({ signal, timeoutMs = 240_000, retries }: CallOptions = {}): Promise<Ended> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const params = { path: { id: this.reactorId, request_id: this.id } };
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
      const now = await this.glovebox.get('/reactors/{id}/results/{request_id}', {
        ...{ params, signal: either, retries },
      });
      if (now.status !== 'pending') return now;
      await pause(waitMs, either);
    }
  }
}
