import { randomBytes } from 'node:crypto';

/** The context of a trace, as https://www.w3.org/TR/trace-context/ passes it between services. */
interface Traceparent {
  readonly traceId: string;
  /** The span of the caller. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const form =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined when the header is missing or not valid: a new trace begins. */
export function parseTraceparent(header: string | undefined): Traceparent | undefined {
  const [, version, traceId, spanId, flags, more] = form.exec(header ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Later versions may say more; this one may not.
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, sampled: (parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, sampled }: Traceparent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

export const newSpanId = (): string => randomBytes(8).toString('hex');
