import { errorOf } from './errors';
import { pause, type CallOptions } from './send';
import type { components } from './api';
import type { Glovebox } from './glovebox';

export type ReactorResponse = components['schemas']['ReactorResponse'];

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
  async result({ signal, timeoutMs = 240_000 }: CallOptions = {}): Promise<ReactorResponse> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const path = { id: this.reactorId, request_id: this.id };
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
      const { status, result, error } = await this.glovebox.get(
        '/reactors/{id}/results/{request_id}',
        { params: { path }, signal: either },
      );
      if (status === 'completed') return result as ReactorResponse;
      if (error) throw errorOf(error);
      await pause(waitMs, either);
    }
  }
}
