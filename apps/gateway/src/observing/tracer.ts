import { randomInt } from 'node:crypto';
import { formatTraceparent, newSpanId, parseTraceparent } from '@glovebox/wire';
import type { Call, CallTrace, Ending } from './call';
import type { Span, SpanSender } from './span-sender';

const serverKind = 2;
const clientKind = 3;

/**
 * Makes spans by hand: instrumentation of node:http would cost half of the throughput, sampled or
 * not. Exists only when a collector is set. Without it the caller's traceparent is passed on
 * unchanged.
 */
export class Tracer {
  constructor(
    private readonly sender: SpanSender,
    private readonly samplePercent: number,
  ) {}

  begin(traceparent: string | undefined, traceId: string): CallTrace {
    const parent = parseTraceparent(traceparent);
    return {
      traceId: parent?.traceId ?? asTraceId(traceId),
      parentSpanId: parent?.spanId,
      spanId: newSpanId(),
      clientSpanId: newSpanId(),
      // The service that began the trace has decided for all of it.
      sampled: parent?.sampled ?? randomInt(100) < this.samplePercent,
    };
  }

  end(call: Call, ending: Ending): void {
    if (call.trace?.sampled) this.sender.add(spansOf(call, call.trace, ending));
  }

  /** Sends the remaining spans, for a limited time. */
  stop(): Promise<void> {
    return this.sender.stop();
  }
}

/** Replaces the caller's traceparent by ours, in headers as name, value, name, value… */
export function passTraceOn(headers: string[], { trace }: Call): void {
  if (!trace) return;
  const { clientSpanId, parentSpanId } = trace;
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    const name = headers[at]?.toLowerCase();
    // Without a valid traceparent a tracestate belongs to nothing.
    if (name === 'traceparent' || (name === 'tracestate' && parentSpanId === undefined)) {
      headers.splice(at, 2);
    }
  }
  headers.push('traceparent', traceparentBelow(trace, clientSpanId));
}

export const traceparentBelow = ({ traceId, sampled }: CallTrace, spanId: string): string =>
  formatTraceparent({ traceId, spanId, sampled });

/** Uses the trace id that the caller is told, if it has the form of one. */
function asTraceId(traceId: string): string {
  const digits = traceId.replaceAll('-', '').toLowerCase();
  return /^(?!0{32})[0-9a-f]{32}$/.test(digits) ? digits : newSpanId() + newSpanId();
}

function spansOf(call: Call, trace: CallTrace, { durationMs, status, left }: Ending): Span[] {
  const { route, method, startedAt, askedAt, destinationHost, destinationStatus } = call;
  const endedAt = startedAt + durationMs;
  const { traceId, spanId, parentSpanId, clientSpanId } = trace;
  const server: Span = {
    traceId,
    spanId,
    parentSpanId,
    name: `${method} ${route}`,
    kind: serverKind,
    startedAt,
    endedAt,
    failed: status === undefined || status >= 500,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'glovebox.trace_id': call.traceId,
      'glovebox.tenant_id': call.tenantId,
      'glovebox.proxy_id': call.proxyId,
      'glovebox.reactor_id': call.reactorId,
      'error.type': call.problem?.code ?? (left ? 'caller_left' : undefined),
    },
  };
  if (askedAt === undefined) return [server];
  const client: Span = {
    traceId,
    spanId: clientSpanId,
    parentSpanId: spanId,
    name: method,
    kind: clientKind,
    startedAt: askedAt,
    endedAt,
    failed: destinationStatus === undefined,
    attributes: {
      'http.request.method': method,
      'http.response.status_code': destinationStatus,
      'server.address': destinationHost,
    },
  };
  return [server, client];
}
