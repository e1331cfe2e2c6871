import type { Principal } from '@glovebox/access';
import type { TransformDefinition } from '@glovebox/definitions';
import { timeOrderedId } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import {
  askedBundle,
  OpenedValues,
  redactorOf,
  returnedValue,
  RunRecording,
  serviceCalls,
  type KnownToRun,
  type Ran,
} from '@glovebox/reactors';
import type { Reach } from '@glovebox/vault';
import type { Room } from '../../call/call-shares';
import type { InvokedProxy, ProxyDecision } from '../../call/caller';
import { CallerLeft } from '../../connection/caller-left';
import type { CallerResponse } from '../../connection/caller-response';
import type { GatewayContext } from '../../context';
import type { Call } from '../../observing/call';
import type { AppendedValues } from './appended-values';
import { transformedBytesMax } from './content';
import { failedInCode, type Side } from './transform-failure';
import { requireMessage, sendableOf, type MadeAnswer, type Sendable } from './sent-by-code';

/** One call of a proxy whose messages go through code or steps. */
export interface Transforming {
  readonly res: CallerResponse;
  readonly call: Call;
  readonly room: Room;
  readonly decision: ProxyDecision;
  readonly reach: Reach;
  /** The data that the call has opened, by token. Nothing that code writes shows it. */
  readonly opened: ReadonlyMap<string, unknown>;
  /** What else nothing shows that code writes. */
  readonly secrets?: readonly unknown[];
  /** What the steps of the request append, where it was opened. */
  readonly appended?: AppendedValues | undefined;
  /** Steps store no token. */
  readonly isDry?: boolean;
}

/** Room around a body of the largest size, in the JSON that code returns. */
const envelopeBytesMax = 1024 * 1024;

type Transformed =
  | (MadeAnswer & { readonly isAnswer: true })
  | (Sendable & { readonly isAnswer: false });

/**
 * Runs one transform. `isAnswer`: code threw the answer for the caller, and nothing else follows.
 */
export async function runTransform(
  ctx: GatewayContext,
  transforming: Transforming,
  side: Side,
  transform: TransformDefinition,
  args: Readonly<Record<string, unknown>>,
): Promise<Transformed> {
  const { res, call, decision } = transforming;
  const { proxy, caller } = decision.decided;
  const signal = new CallerLeft(res);
  const { tenantId } = proxy;
  const runId = timeOrderedId();
  if (side === 'request') call.requestRunId = runId;
  else call.responseRunId = runId;
  const recording = new RunRecording({
    tenantId,
    logger: ctx.logger,
    urgency: 'sync',
    signal,
    argumentNames: () => Object.keys(args),
    codeHash: transform.codeHash,
    record: ctx.runLog.recorder(
      {
        tenantId,
        kind: 'transform',
        resourceId: proxy.id ?? '',
        traceId: call.traceId,
        applicationId: caller?.actorId ?? null,
        mode: side,
      },
      runId,
    ),
  });
  const work = (): Promise<Transformed> =>
    transformed(ctx, transforming, { side, transform, args, recording, signal });
  try {
    return await recording.execute(work, (made) => (made.isAnswer ? made.status : 200));
  } catch (thrown) {
    throw failedInCode(thrown, `${side} transform`, ctx.config.REACTOR_SYNC_TIMEOUT_MS);
  }
}

interface TransformRun {
  readonly side: Side;
  readonly transform: TransformDefinition;
  readonly args: Readonly<Record<string, unknown>>;
  readonly recording: RunRecording;
  readonly signal: CallerLeft;
}

async function transformed(
  ctx: GatewayContext,
  { call, decision, reach, opened, secrets = [] }: Transforming,
  { side, transform, args, recording, signal }: TransformRun,
): Promise<Transformed> {
  const { proxy } = decision.decided;
  const { code, codeHash, runtime } = transform;
  const made = `${side} transform` as const;
  const openedByCode = new OpenedValues();
  const known: KnownToRun = {
    data: [...opened.values(), ...secrets],
    opened: openedByCode,
    args,
    // A part of a token that an expression made may be as short as what is shown.
    sent: side === 'response' || opened.size === 0 ? args : undefined,
    configuration: proxy.configuration,
    parameters: [],
    code,
  };
  const { REACTOR_SYNC_TIMEOUT_MS: timeoutMs } = ctx.config;
  const hasSvc = proxy.applicationId !== null;
  const ran: Ran = { what: made, runtime, hasSvc, isAsync: false, timeoutMs };
  const bundle = askedBundle(ctx.bundles, proxy.tenantId, transform);
  recording.uses([...opened.keys()]);
  recording.knows(known);
  const outcome = await ctx.runner.run(
    {
      kind: 'transform',
      tenantId: proxy.tenantId,
      resourceId: proxy.id ?? '',
      runtime,
      applicationId: proxy.applicationId,
      code: bundle?.read ?? code,
      codeHash,
      isolation: proxy.isolation,
      args,
      configuration: proxy.configuration,
      svc: hasSvc,
      urgency: 'sync',
      timeoutMs,
      resultBytesMax: transformedBytesMax + envelopeBytesMax,
    },
    {
      onCall: serviceCalls(ctx, () => applicationOf(ctx, proxy), call.traceId, reach, openedByCode),
      onLog: recording.onLog,
      reach: () => reach.hosts,
      signal,
    },
  );
  bundle?.requireRead();
  recording.ended(outcome);
  if (side === 'request') call.putIn?.addOpened(openedByCode.values);
  const isAnswer = outcome.kind === 'answered';
  const value = isAnswer
    ? outcome.value
    : requireMessage(await returnedValue(outcome, redactorOf(known), ran), made);
  const sendable = sendableOf(value, made, ctx.headers);
  return isAnswer
    ? { ...sendable, status: sendable.status ?? 500, isAnswer }
    : { ...sendable, isAnswer };
}

/**
 * The application that code and steps of a proxy act as now. A call may outlast its permissions.
 */
export async function applicationOf(
  { follower }: Pick<GatewayContext, 'follower'>,
  { id, tenantId, applicationId }: InvokedProxy,
): Promise<Principal | null> {
  const definitions = follower.fresh() ?? (await follower.current());
  const proxy = id === null ? undefined : definitions.find('proxy', tenantId, id);
  if (!proxy || proxy.applicationId !== applicationId) {
    throw new Problem('application_gone');
  }
  if (applicationId === null) return null;
  return definitions.principal(tenantId, applicationId) ?? null;
}
