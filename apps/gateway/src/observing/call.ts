import { callTokensMax, type EndedCall } from '@glovebox/calls';
import type { Problem } from '@glovebox/problems';
import type { Logger } from '@glovebox/service-host';
import type { Capture } from '../capture/capture';
import type { PutIn } from '../proxy/scrub/put-in';

/** The headers of an answer that tell a browser which page may read it. */
export type OriginHeaders = Readonly<Record<string, string>>;

export type RouteName = 'proxy' | 'forward' | 'react' | 'dry_run' | 'live' | 'ready' | 'management';

/**
 * The record of one call: made at its start, filled in on its way, observed at its end by metrics,
 * access log and trace. Holds ids and figures only. The trace id is the only thing in it that a caller
 * may have sent.
 */
export interface Call extends EndedCall {
  readonly observers: CallObservers;
  readonly route: RouteName;
  readonly method: string;
  readonly startedAt: number;
  readonly traceId: string;
  /** Null when no collector of traces is set. */
  readonly trace: CallTrace | null;
  /** The member of the answer that holds a problem. */
  readonly problemMember: 'proxy_error' | undefined;
  /** Its caller has a valid key of the tenant that it calls, and may know why it failed. */
  isKeyed: boolean;
  /** The rate of its caller has counted it. */
  isCounted: boolean;
  tenantId: string | undefined;
  applicationId: string | undefined;
  proxyId: string | undefined;
  reactorId: string | undefined;
  destinationHost: string | undefined;
  /** When the call had its place. */
  decidedAt: number | undefined;
  /** When the destination was asked, and when the head of its answer was there. */
  askedAt: number | undefined;
  answeredAt: number | undefined;
  destinationStatus: number | undefined;
  /** Why it failed, also where the answer had begun before. Set by `recordProblem` alone. */
  problem: Problem | undefined;
  /** Bytes of the bodies: declared, or as many as came. */
  requestBytes: number | undefined;
  answerBytes: number | undefined;
  tokenIds: string[] | undefined;
  runId: string | undefined;
  requestRunId: string | undefined;
  responseRunId: string | undefined;
  /** Another server has the call, and logs it. */
  isPassedOn: boolean;
  /** Undefined unless its messages are captured. */
  capture: Capture | undefined;
  /** What must not come back in the answer. Undefined unless its proxy scrubs. */
  putIn: PutIn | undefined;
  /** Undefined: the answer is the same for every page. */
  originHeaders: OriginHeaders | undefined;
  /** Counts the answer and the work for it. A caller that leaves ends only the answer. */
  underWay: number;
  /** The call's part of what all calls share, given back when answer and work have ended. */
  room: Ended | undefined;
}

/** The place of a call in a trace: below the caller's span, above that of the destination. */
export interface CallTrace {
  readonly traceId: string;
  readonly parentSpanId: string | undefined;
  readonly spanId: string;
  /** The span of the request to the destination, whose own spans are below it. */
  readonly clientSpanId: string;
  readonly sampled: boolean;
}

/** The end of a call. */
export interface Ending {
  readonly durationMs: number;
  /** Undefined when the caller left before an answer. */
  readonly status: number | undefined;
  /** The caller left before its answer was complete. */
  readonly left: boolean;
}

/** Told of the end of each call. */
interface CallObservers {
  readonly metrics: { ended(call: Call, ending: Ending): void };
  readonly callLog: { add(path: string, call: Call, ending: Ending): void };
  readonly accessLog: { add(call: Call, ending: Ending): void } | null;
  readonly failureLog: { add(call: Call): void } | null;
  readonly tracer: { end(call: Call, ending: Ending): void } | null;
  readonly logger: Pick<Logger, 'error'>;
}

interface Ended {
  end(): void;
}

/** Adds tokens that the call uses, as far as its log has room for them. */
export function noteTokens(call: Pick<Call, 'tokenIds'>, ids: readonly string[]): void {
  call.tokenIds ??= [];
  call.tokenIds.push(...ids.slice(0, callTokensMax - call.tokenIds.length));
}
