import { resultMembersMax } from './call-limits';
import { FrameError, type JsonObject } from './frames';
import { isWhole, objectOf, oneOf, positiveOf, textOf } from './members';
import { runtimes, type Runtime } from './run';
import { parseThrownError, type ThrownError } from './thrown-error';
import { readValue, UnreadableValue } from './values';

const invalidResultReasons = [
  'not_an_object',
  'circular',
  'not_serialisable',
  'too_large',
] as const;
export type InvalidResultReason = (typeof invalidResultReasons)[number];

/** The memory that code may have on its runtime. */
export interface MemoryLimit {
  readonly runtime: Runtime;
  readonly megabytes: number;
}

/** The reason why a runner has no process of the runtime at present. */
const runtimeRefusals = ['fetching', 'not_fetched', 'not_offered'] as const;
export type RuntimeRefusal = (typeof runtimeRefusals)[number];

/** The reason why no debugger sees the run. */
const inspectorRefusals = ['off', 'not_connected', 'busy'] as const;
export type InspectorRefusal = (typeof inspectorRefusals)[number];

type Outcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  /** A transform threw the answer. Status, headers and body are not validated yet. */
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'args_too_large' }
  | { readonly kind: 'threw'; readonly error: ThrownError }
  | { readonly kind: 'timed_out' }
  | {
      readonly kind: 'no_capacity';
      readonly runtime?: RuntimeRefusal;
      readonly inspector?: InspectorRefusal;
    }
  /** `memory`: the process ended by itself, which mostly is for want of it. */
  | { readonly kind: 'died'; readonly reason: string; readonly memory?: MemoryLimit }
  | { readonly kind: 'invalid_code'; readonly error: ThrownError }
  | { readonly kind: 'invalid_result'; readonly reason: InvalidResultReason };

export type RunOutcome = Outcome & {
  /** The time that the run waited for a process. Absent if it got none. */
  readonly queuedMs?: number;
};

/** The outcome as a runner knows it, which does not read what code returned or threw. */
export type UnreadOutcome = (
  | {
      readonly kind: 'returned' | 'answered' | 'threw' | 'invalid_code';
      readonly value: Buffer;
    }
  | Extract<Outcome, { kind: 'timed_out' | 'no_capacity' | 'died' | 'invalid_result' }>
) & { readonly queuedMs?: number };

/** Reads the head of a RESULT or LOADED. */
export function parseOutcome(head: JsonObject, value: Buffer): UnreadOutcome {
  const { queuedMs } = head;
  const outcome = parseKind(head, value);
  if (queuedMs === undefined) return outcome;
  if (!isWhole(queuedMs, 0, Number.MAX_SAFE_INTEGER)) {
    throw new FrameError('queuedMs is not a whole number');
  }
  // Hot path: nearly every outcome has a value.
  if ('value' in outcome) return { kind: outcome.kind, value, queuedMs };
  return { ...outcome, queuedMs };
}

function parseKind(head: JsonObject, value: Buffer): UnreadOutcome {
  const { kind } = head;
  switch (kind) {
    case 'returned':
    case 'answered':
    case 'threw':
    case 'invalid_code':
      return { kind, value };
    case 'timed_out':
      return { kind };
    case 'no_capacity': {
      const { runtime, inspector } = head;
      if (inspector !== undefined) {
        return { kind, inspector: oneOf(inspectorRefusals, inspector, 'inspector') };
      }
      if (runtime === undefined) return { kind };
      return { kind, runtime: oneOf(runtimeRefusals, runtime, 'runtime') };
    }
    case 'died':
      return { kind, reason: textOf(head, 'reason'), ...memoryOf(head) };
    case 'invalid_result':
      return { kind, reason: oneOf(invalidResultReasons, head['reason'], 'reason') };
    default:
      throw new FrameError('a result of an unknown kind');
  }
}

function memoryOf(head: JsonObject): { memory?: MemoryLimit } {
  if (head['memory'] === undefined) return {};
  const memory = objectOf(head['memory'], 'memory');
  const runtime = oneOf(runtimes, memory['runtime'], 'runtime');
  return { memory: { runtime, megabytes: positiveOf(memory, 'megabytes') } };
}

/** Reads what code returned or threw. A value that is none fails its own run alone. */
export function readOutcome(unread: UnreadOutcome): RunOutcome {
  if (!('value' in unread)) return unread;
  const { kind, value: bytes, queuedMs } = unread;
  const more = queuedMs === undefined ? {} : { queuedMs };
  try {
    const read = readValue(bytes, resultMembersMax);
    if (kind === 'threw' || kind === 'invalid_code') {
      return { kind, error: parseThrownError(read), ...more };
    }
    const value = read === undefined ? undefined : objectOf(read, 'value');
    return queuedMs === undefined ? { kind, value } : { kind, value, queuedMs };
  } catch (error) {
    if (!(error instanceof FrameError || error instanceof UnreadableValue)) throw error;
    if (error instanceof UnreadableValue && error.reason === 'too_many') {
      return { kind: 'invalid_result', reason: 'too_large', ...more };
    }
    return { kind: 'died', reason: `protocol violation: ${error.message}`, ...more };
  }
}
