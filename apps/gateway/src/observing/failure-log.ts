import type { Logger } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { operatorsReason } from '../call/failures';
import type { Call } from './call';

/** Failures of one resource from one cause, within a second. */
interface Failing {
  /** Whose share of the causes it has. */
  readonly owner: string | undefined;
  /** How many there were behind the first. */
  further: number;
  last: Record<string, unknown>;
}

const everyMs = 1_000;
/** Causes that are told apart within a second. One tenant gets half of what the others leave. */
const causesApart = 100;
const others = 'others';
const strangers = 'strangers';

/**
 * Tells the operator of failed calls where no access log does: the first of a cause and resource at
 * once, and how many more there were when the second is over. A destination that is down for a
 * thousand calls a second fills no log.
 */
export class FailureLog {
  readonly #failing = new Map<string, Failing>();
  readonly #places = new Shares({ places: causesApart });
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly logger: Pick<Logger, 'warn'>) {}

  add(call: Call): void {
    const { problem } = call;
    const told = problem && operatorsReason(problem);
    if (!told) return;
    // The reason may hold a number of bytes, which tells no causes apart.
    const cause = `${problem.code} ${told.phase} ${call.proxyId ?? call.reactorId ?? call.tenantId}`;
    const { tenantId: owner = strangers } = call;
    const isApart = this.#failing.has(cause) || this.#places.hasRoom(owner);
    const key = isApart ? cause : others;
    const known = this.#failing.get(key);
    const line = lineOf(call, problem.code, told);
    if (known) {
      known.further += 1;
      known.last = line;
      return;
    }
    if (isApart) this.#places.enter(owner);
    this.#failing.set(key, { owner: isApart ? owner : undefined, further: 0, last: line });
    this.#timer ??= setTimeout(() => this.flush(), everyMs);
    this.logger.warn(line, 'a call failed');
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [key, { owner, further, last }] of this.#failing) {
      if (owner !== undefined) this.#places.leave(owner);
      if (further === 0) continue;
      const isMixed = key === others;
      this.logger.warn(
        { ...last, count: further, ...(isMixed ? { mixed: true } : {}) },
        'calls failed',
      );
    }
    this.#failing.clear();
  }
}

function lineOf(
  { traceId, tenantId, proxyId, reactorId, destinationHost, destinationStatus }: Call,
  code: string,
  { phase, reason }: { readonly phase: string; readonly reason: string },
): Record<string, unknown> {
  return {
    code,
    phase,
    reason,
    trace_id: traceId,
    tenant_id: tenantId,
    proxy_id: proxyId,
    reactor_id: reactorId,
    destination: destinationHost,
    destination_status: destinationStatus,
  };
}
