import { FrameError, type JsonObject } from './frames';
import { logLevels, type LogLevel } from './log-limits';
import { objectOf, oneOf, positiveOf, textOf } from './members';
import { writeValue } from './values';

export const runtimes = ['node16', 'node20', 'node22', 'node24'] as const;
export type Runtime = (typeof runtimes)[number];
export type Isolation = 'warm' | 'run';
/** A transform finds headers by names in any case, and may throw the whole answer. */
const runKinds = ['reactor', 'transform'] as const;
type RunKind = (typeof runKinds)[number];
/** `sync`: a caller waits for the answer. */
const urgencies = ['sync', 'async'] as const;
export type Urgency = (typeof urgencies)[number];

const inspectedSides = ['reactor', 'request', 'response'] as const;

/** A debugger is to see the run: the one that has told the runner the same session. */
export interface Inspection {
  readonly session: string;
  /** What the debugger is told that the code is. */
  readonly side: (typeof inspectedSides)[number];
}

/**
 * The part of a request that is always sent. The code follows only when a process has to load it.
 */
export interface RunOrder {
  readonly kind: RunKind;
  readonly tenantId: string;
  readonly resourceId: string;
  readonly runtime: Runtime;
  readonly applicationId: string | null;
  readonly codeHash: string;
  readonly isolation: Isolation;
  /** Gives the code a `req.svc`. Its calls come back through `onCall`. */
  readonly svc: boolean;
  /** False: the runner refuses every connection and look-up of the code. */
  readonly network: boolean;
  /** The hosts that code may reach, as `hostPatternsOf` spells them. Undefined: any. */
  readonly reach?: readonly string[] | undefined;
  /** An older runner would run the code without its debugger. */
  readonly inspection?: Inspection | undefined;
  readonly urgency: Urgency;
  readonly timeoutMs: number;
  readonly resultBytesMax: number;
  /** Arguments and configuration as the sandbox reads them, and nobody before it. */
  readonly input: Buffer;
}

export interface RunRequest extends Omit<RunOrder, 'input' | 'network' | 'reach'> {
  /** A text, or what reads it when a runner asks for it. */
  readonly code: string | (() => Promise<string>);
  readonly args: unknown;
  readonly configuration: Readonly<Record<string, string>>;
  /** Only a runner that speaks `versionWithNetworkOff` takes a run without it. */
  readonly network?: false;
}

export interface LogLine {
  /** Milliseconds since 1970, by the clock of the runner. */
  readonly at: number;
  /** One of `logLevels`. */
  readonly level: string;
  readonly text: string;
}

/** Tells that nobody waits for a run any more. An AbortSignal is one. */
export interface Cancellation {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The side of a run that the process which asked for it keeps. */
export interface RunHooks {
  /** `svc.tokenize`, `svc.tokens.create`, …: `params` lists the arguments of the call. */
  onCall(method: string, params: unknown): Promise<unknown>;
  onLog?(line: LogLine): void;
  /**
   * The hosts that the code may reach now. It narrows with what the code is given, and the list is
   * another one then.
   */
  reach?(): readonly string[] | undefined;
  signal?: Cancellation;
}

type ProcessKey = Pick<
  RunOrder,
  'tenantId' | 'resourceId' | 'codeHash' | 'runtime' | 'applicationId'
>;

/** An OS process serves one key and never another. */
export function processKey(run: ProcessKey): string {
  return JSON.stringify([
    run.tenantId,
    run.resourceId,
    run.codeHash,
    run.runtime,
    run.applicationId,
  ]);
}

/** The head and the value of the INVOKE that asks a runner for a run. */
export function describeRun(
  request: RunRequest,
  reach?: readonly string[],
): {
  readonly order: JsonObject;
  readonly input: string;
} {
  const { args, configuration } = request;
  // Hot path: a literal of a fixed shape costs a fraction of a spread.
  const order: Omit<RunOrder, 'input' | 'network'> & { network: false | undefined } = {
    kind: request.kind,
    tenantId: request.tenantId,
    resourceId: request.resourceId,
    runtime: request.runtime,
    applicationId: request.applicationId,
    codeHash: request.codeHash,
    isolation: request.isolation,
    svc: request.svc,
    urgency: request.urgency,
    timeoutMs: request.timeoutMs,
    resultBytesMax: request.resultBytesMax,
    // Not sent where it is undefined.
    network: request.network,
    reach,
    inspection: request.inspection,
  };
  return { order: order as unknown as JsonObject, input: writeValue({ args, configuration }) };
}

export function parseRunOrder(head: JsonObject, input: Buffer): RunOrder {
  const { kind, applicationId, runtime, isolation, urgency } = head;
  return {
    kind: oneOf(runKinds, kind, 'kind'),
    tenantId: textOf(head, 'tenantId'),
    resourceId: textOf(head, 'resourceId'),
    runtime: oneOf(runtimes, runtime, 'runtime'),
    applicationId: applicationId === null ? null : textOf(head, 'applicationId'),
    codeHash: textOf(head, 'codeHash'),
    isolation: oneOf(['warm', 'run'] as const, isolation, 'isolation'),
    svc: head['svc'] === true,
    network: head['network'] !== false,
    reach: reachOf(head),
    inspection: inspectionOf(head),
    urgency: oneOf(urgencies, urgency, 'urgency'),
    timeoutMs: positiveOf(head, 'timeoutMs'),
    resultBytesMax: positiveOf(head, 'resultBytesMax'),
    input,
  };
}

/** The hosts in the head of an order, or of an answer to a call. */
export function reachOf(head: JsonObject): readonly string[] | undefined {
  const { reach } = head;
  if (reach === undefined) return undefined;
  const isList = Array.isArray(reach) && reach.every((one) => typeof one === 'string');
  if (!isList) throw new FrameError('reach is no list of hosts');
  return reach as string[];
}

function inspectionOf(head: JsonObject): Inspection | undefined {
  if (head['inspection'] === undefined) return undefined;
  const inspection = objectOf(head['inspection'], 'inspection');
  return {
    session: textOf(inspection, 'session'),
    side: oneOf(inspectedSides, inspection['side'], 'side'),
  };
}

/** The head of a line tells its level. The text is the value. */
export const levelOf = (head: JsonObject): LogLevel => oneOf(logLevels, head['level'], 'level');

export function parseLogLine(head: JsonObject, text: Buffer): LogLine {
  return { at: positiveOf(head, 'at'), level: levelOf(head), text: text.toString('utf8') };
}
