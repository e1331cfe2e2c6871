import { holds, invalidApiKey, type Principal } from '@glovebox/access';
import type { DefinitionSnapshot } from '@glovebox/definitions';
import type { DryRunOrder } from '@glovebox/dry-runs';
import { notFound, type Problem, type ProblemCode } from '@glovebox/problems';
import { runsRecorded } from '@glovebox/reactors';
import type { RunRecord } from '@glovebox/runs';
import type { CodeFrame, Inspection, RunnerClient } from '@glovebox/sandbox';
import type { Room } from '../call/call-shares';
import type { CallerResponse } from '../connection/caller-response';
import type { Call } from '../observing/call';

/** The call that a dry run answers. */
export interface Rehearsal {
  readonly res: CallerResponse;
  readonly call: Call;
  readonly room: Room;
}

export interface ShownLine {
  readonly at: string;
  readonly level: string;
  readonly text: string;
}

/** The error as a call would answer it, with what the log of runs would keep of it. */
export interface ShownError extends ReturnType<Problem['body']> {
  readonly message: string;
  readonly stack?: readonly CodeFrame[];
}

/** The redaction of lines may take so long. */
const recordWaitMs = 5_000;

/** Takes the record of a run, which comes behind its answer. */
export class Recorded {
  readonly #record: Promise<RunRecord>;
  take: (record: RunRecord) => void = () => undefined;

  constructor() {
    this.#record = new Promise((resolve) => (this.take = resolve));
  }

  /** Undefined: it could not be made. */
  async record(): Promise<RunRecord | undefined> {
    return Promise.race([this.#record, runsRecorded(recordWaitMs).then(() => undefined)]);
  }
}

export const shownLines = (record: RunRecord | undefined): ShownLine[] =>
  (record?.lines ?? []).map(({ at, level, text }) => ({
    at: new Date(at).toISOString(),
    level,
    text,
  }));

export function shownError(problem: Problem, record: RunRecord | undefined): ShownError {
  const { message = problem.message, stack, position } = record ?? {};
  return {
    ...(position === undefined ? {} : { position }),
    ...problem.body({ withCause: true }),
    message,
    ...(stack === undefined ? {} : { stack }),
  };
}

/** Says nothing of the code: the dry run may be tried again. */
const notTried = new Set<ProblemCode>([
  'changed_meanwhile',
  'invalid_api_key',
  'newer_definition',
  'no_capacity',
  'service_unavailable',
  'share_exhausted',
]);

export const wasTried = ({ code }: Problem): boolean => !notTried.has(code);

/** The caller as it acts now. A person was looked up by the management API. */
export function callerNow(definitions: DefinitionSnapshot, caller: Principal): Principal {
  if (caller.type === 'person') return caller;
  const now = definitions.principal(caller.tenantId, caller.actorId);
  if (!now) throw invalidApiKey(undefined, []);
  return now;
}

/** Whether expressions are replaced. A debugger would show the values. */
export const opensTokens = (caller: Principal, { inspect }: DryRunOrder): boolean =>
  inspect === undefined && holds(caller, 'token:use');

/** The configuration of the stored resource that the order names, or else its own. */
export function configurationFor(
  definitions: DefinitionSnapshot,
  kind: 'reactor' | 'proxy',
  order: DryRunOrder,
): Readonly<Record<string, string>> {
  const { configurationOf, caller } = order;
  const given = order.kind === 'reactor' ? order.reactor : order.proxy;
  if (configurationOf === null) return given.configuration;
  definitions.requireReadable(kind, configurationOf);
  const stored = definitions.find(kind, caller.tenantId, configurationOf);
  if (!stored) throw notFound(kind);
  return stored.configuration;
}

/** The time in which an author may look at code that a debugger holds. */
const inspectedMs = 15 * 60_000;

/** A runner that starts each run in a process that has served nobody, and that ends with it. */
export const apart = (
  runner: RunnerClient,
  { id, inspect }: DryRunOrder,
  { hasNetwork, side }: { hasNetwork: boolean; side: () => Inspection['side'] },
): RunnerClient => ({
  ...runner,
  run: (request, hooks) =>
    runner.run(
      {
        ...{ ...request, resourceId: id, isolation: 'run' },
        ...(hasNetwork ? {} : { network: false }),
        ...(inspect === undefined
          ? {}
          : { inspection: { session: inspect, side: side() }, timeoutMs: inspectedMs }),
      },
      hooks,
    ),
});
