import { isUtf8 } from 'node:buffer';
import { Socket } from 'node:net';
import {
  Decision,
  type DefinitionSnapshot,
  type ProxyDefinition,
  type TransformStep,
} from '@glovebox/definitions';
import type { KeptValue, ProxyRehearsal } from '@glovebox/dry-runs';
import { inSlices } from '@glovebox/expressions';
import { notFound, Problem, toProblem } from '@glovebox/problems';
import { OpenedValues, redactedValue, type KnownToRun } from '@glovebox/reactors';
import type { RunRecord } from '@glovebox/runs';
import { Reach } from '@glovebox/vault';
import type { InvokedProxy } from '../call/caller';
import { CallerRequest } from '../connection/caller-request';
import { answeredHeaders, forwardedHeaders, withoutNames } from '../connection/forwarded-headers';
import type { OutgoingBody } from '../connection/request-body';
import type { GatewayContext } from '../context';
import { destinationOf } from '../proxy/destination-url';
import { prepareWhole, refuseElsewhere, type ReceivedRequest } from '../proxy/proxy-handler';
import { headersAfter } from '../proxy/transforms/head-steps';
import { seenHeaders } from '../proxy/transforms/seen-by-code';
import type { Transforming } from '../proxy/transforms/run-transform';
import { readsAnswer, transformAnswer } from '../proxy/transforms/transform-answer';
import {
  changesRequest,
  transformRequest,
  type Prepared,
} from '../proxy/transforms/transform-request';
import {
  apart,
  callerNow,
  configurationFor,
  opensTokens,
  Recorded,
  shownError,
  shownLines,
  wasTried,
  type Rehearsal,
  type ShownError,
  type ShownLine,
} from './rehearsal';

type Side = 'request' | 'response';

interface ShownMessage {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  /** Bytes of the body, where it is not shown to its end. */
  readonly body_bytes?: number;
}

interface ProxyAnswer {
  readonly status: 'completed' | 'failed';
  readonly request?: ShownMessage & { readonly method: string; readonly url: string };
  readonly answer?: ShownMessage & { readonly status: number };
  readonly failed_at?: 'request' | 'answer';
  readonly error?: ShownError;
  readonly lines: readonly (ShownLine & { readonly side: Side })[];
  readonly duration_ms: number;
}

/** Characters of a body that are shown. */
const shownBodyMax = 1024 * 1024;

/**
 * Takes the messages of an order through the proxy as a call would, up to where bytes would leave.
 * Code has neither network nor `svc`, and steps store no token.
 */
export async function rehearseProxy(
  live: GatewayContext,
  order: ProxyRehearsal,
  { res, call, room }: Rehearsal,
): Promise<ProxyAnswer> {
  const begun = performance.now();
  const runs = new Map<Side, Recorded>();
  const runLog: GatewayContext['runLog'] = {
    recorder: ({ mode }) => recordedAs(runs, mode === 'request' ? mode : 'response'),
  };
  let side: 'request' | 'answer' = 'request';
  const how = {
    hasNetwork: false,
    side: (): Side => (side === 'request' ? side : 'response'),
  };
  const ctx = { ...live, runner: apart(live.runner, order, how), runLog };
  const decision = new Decision(ctx.follower, await ctx.follower.current(), {
    find: (now) => callIn(now, order),
    parts: ['proxy', 'caller'],
  });
  const { proxy } = decision.decided;
  const req = requestOf(order);
  const { suffix, query } = order.request;
  const head = { suffix, query, headers: forwardedHeaders(req.rawHeaders, ctx.headers) };
  const reach = new Reach();
  const received: ReceivedRequest = { req, res, decision, call, room, head, reach, isDry: true };
  const body = bytesOf(order.request.body);
  let prepared: Prepared | undefined;
  const made: { -readonly [Part in 'request' | 'answer']?: ProxyAnswer[Part] } = {};
  let error: { readonly thrown: unknown } | undefined;
  const transforming = (): Transforming => ({
    ...{ res, call, room, decision, reach, isDry: true, secrets: keptValues(proxy, order) },
    opened: prepared?.opened ?? new Map<string, unknown>(),
  });
  try {
    prepared = await prepareWhole(ctx, received, body);
    const outgoing = changesRequest(proxy)
      ? await transformRequest(ctx, transforming(), req, prepared)
      : prepared;
    if ('answer' in outgoing) made.answer = shown(outgoing.answer);
    else {
      const url = destinationOf(proxy.destinationUrl, outgoing.suffix, outgoing.query);
      if (!reach.allows(url)) await refuseElsewhere(ctx, received);
      made.request = {
        method: order.request.method,
        url: url.origin + url.target,
        ...shownMessage(outgoing.headers, outgoing.body),
      };
      side = 'answer';
      if (order.answer) made.answer = shown(await answered(ctx, transforming(), order.answer));
    }
  } catch (thrown) {
    if (!wasTried(toProblem(thrown))) throw thrown;
    error = { thrown };
  }
  const records = await recordsOf(runs);
  const lines = [...records].flatMap(([of, record]) =>
    shownLines(record).map((line) => ({ ...line, side: of })),
  );
  const secrets = secretsIn(proxy, prepared, order);
  const messages = (await inSlices(redactedValue(made, secrets), room.takeTurn)) as typeof made;
  const rest = { lines, duration_ms: Math.round(performance.now() - begun) };
  if (!error) return { status: 'completed', ...messages, ...rest };
  const of = records.get(side === 'request' ? 'request' : 'response');
  const failed = shownError(toProblem(error.thrown), of?.message === undefined ? undefined : of);
  return { status: 'failed', ...messages, failed_at: side, error: failed, ...rest };
}

function recordedAs(runs: Map<Side, Recorded>, side: Side): (record: RunRecord) => void {
  const recorded = new Recorded();
  runs.set(side, recorded);
  return (record) => recorded.take(record);
}

async function recordsOf(runs: ReadonlyMap<Side, Recorded>): Promise<Map<Side, RunRecord>> {
  const records = new Map<Side, RunRecord>();
  for (const [side, recorded] of runs) {
    const record = await recorded.record();
    if (record) records.set(side, record);
  }
  return records;
}

function callIn(definitions: DefinitionSnapshot, order: ProxyRehearsal) {
  const caller = callerNow(definitions, order.caller);
  const configuration = configurationFor(definitions, 'proxy', order);
  const proxy: InvokedProxy = {
    ...order.proxy,
    // Its code gets no `svc`.
    ...{ applicationId: null, configuration },
    ...stepsWithKept(definitions, order),
  };
  // Whoever uses no tokens is served as an anonymous caller: expressions stay as they are.
  return { proxy, caller: opensTokens(caller, order) ? caller : null };
}

/** The steps of the order, with the values that they keep from those of the stored proxy. */
function stepsWithKept(
  definitions: DefinitionSnapshot,
  { proxy, kept, caller }: ProxyRehearsal,
): Pick<ProxyDefinition, KeptValue['side']> {
  const { requestSteps, responseSteps } = proxy;
  if (kept.length === 0) return { requestSteps, responseSteps };
  definitions.requireReadable('proxy', proxy.id);
  const stored = definitions.find('proxy', caller.tenantId, proxy.id);
  if (!stored) throw notFound('proxy');
  const filled = { requestSteps: [...requestSteps], responseSteps: [...responseSteps] };
  for (const { side, at, from } of kept) {
    const [step, before] = [proxy[side][at], stored[side][from]];
    if (step?.type !== 'append' || before?.type !== 'append' || !isSamePlace(step, before)) {
      const detail = 'The steps of the proxy were changed a moment ago.';
      throw new Problem('changed_meanwhile', { detail, retryAfterSeconds: 1 });
    }
    const options = { ...step.options, value: before.options.value };
    filled[side][at] = { ...step, options } as AppendStep;
  }
  return filled;
}

type AppendStep = Extract<TransformStep, { type: 'append' }>;

function isSamePlace({ options: one }: AppendStep, { options: other }: AppendStep): boolean {
  if (one.location === 'body') return other.location === 'body' && one.path === other.path;
  return one.location === other.location && one.name === other.name;
}

const keptValues = (proxy: InvokedProxy, { kept }: ProxyRehearsal): unknown[] =>
  kept.map(({ side, at }) => {
    const step = proxy[side][at];
    return step?.type === 'append' ? step.options.value : undefined;
  });

/** A request that nobody sent, as its proxy would see it. */
function requestOf({ request: { method, suffix, query, headers, body } }: ProxyRehearsal) {
  const req = new CallerRequest(new Socket());
  req.method = method;
  req.url = `/proxy${suffix}${query === '' ? '' : `?${query}`}`;
  const framing = /^(?:host|content-length|transfer-encoding|connection|upgrade|expect)$/;
  const given = withoutNames(headers, (lower) => framing.test(lower));
  const length = body === null ? [] : ['content-length', String(Buffer.byteLength(body))];
  req.rawHeaders = [...given, ...length];
  req.headers = seenHeaders(req.rawHeaders);
  return req;
}

const bytesOf = (body: string | null): Buffer | undefined =>
  body === null ? undefined : Buffer.from(body);

async function answered(
  ctx: GatewayContext,
  transforming: Transforming,
  answer: NonNullable<ProxyRehearsal['answer']>,
) {
  const { proxy } = transforming.decision.decided;
  const { status } = answer;
  const headers = answeredHeaders(answer.headers, ctx.headers, status);
  const body = bytesOf(answer.body) ?? Buffer.alloc(0);
  if (readsAnswer(proxy)) return transformAnswer(ctx, transforming, { status, headers, body });
  return { status, headers: headersAfter(proxy.responseSteps, headers, ctx.headers), body };
}

const shown = ({
  status,
  headers,
  body,
}: {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}) => ({ status, ...shownMessage(headers, body) });

function shownMessage(list: readonly string[], body: OutgoingBody): ShownMessage {
  const headers: Record<string, string | string[]> = {};
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = (list[at] ?? '').toLowerCase();
    const value = list[at + 1] ?? '';
    // Its length is made by whoever sends it.
    if (name === 'content-length') continue;
    const known = Object.hasOwn(headers, name) ? headers[name] : undefined;
    const values = known === undefined ? value : [known, value].flat();
    Object.defineProperty(headers, name, { value: values, enumerable: true, configurable: true });
  }
  const bytes = Array.isArray(body) ? Buffer.concat(body as Buffer[]) : body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return { headers };
  if (bytes.length > shownBodyMax || !isUtf8(bytes)) {
    const part = bytes.subarray(0, shownBodyMax).toString('utf8');
    return { headers, body: part, body_bytes: bytes.length };
  }
  return { headers, body: bytes.toString('utf8') };
}

/** The data that was put in, and what is stored, unless the caller gave it. */
function secretsIn(
  proxy: InvokedProxy,
  prepared: Prepared | undefined,
  order: ProxyRehearsal,
): KnownToRun {
  return {
    data: [...(prepared?.opened.values() ?? []), ...keptValues(proxy, order)],
    opened: new OpenedValues(),
    args: {},
    sent: {},
    configuration: order.configurationOf === null ? {} : proxy.configuration,
    parameters: [],
    code: '',
  };
}
