import type { IncomingMessage } from 'node:http';
import type { TransformStep } from '@glovebox/definitions';
import { inSlices } from '@glovebox/expressions';
import { hopHeader } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import type { Room } from '../../call/call-shares';
import type { InvokedProxy } from '../../call/caller';
import { withoutNames } from '../../connection/forwarded-headers';
import type { GatewayContext } from '../../context';
import type { OutgoingBody } from '../../connection/request-body';
import type { ProxiedRequest } from '../fill-in';
import { signsBody, type AppendedValues } from './appended-values';
import { bodyFormatOf, textOfBody, withoutDigests } from './content';
import { readExactJson } from './exact-json';
import { runTransform, type Transforming } from './run-transform';
import { seenBody, seenHeaders, type SeenBody } from './seen-by-code';
import type { MadeAnswer } from './sent-by-code';
import { stepMessage, type SteppedMessage } from './step-message';
import { withoutValuesAt, type Spared } from './spared-values';
import { hidesFromBody, needsBody } from './steps';

/** A request with its expressions replaced. */
export interface Prepared extends ProxiedRequest {
  /** Its body as it came, if a transform takes it apart. */
  readonly whole: Buffer | undefined;
  readonly spared: Spared | undefined;
  /** The data in the request, by token. */
  readonly opened: ReadonlyMap<string, unknown>;
  readonly appended?: AppendedValues | undefined;
}

export function changesRequest({ requestTransform, requestSteps }: InvokedProxy): boolean {
  return requestTransform !== null || requestSteps.length > 0;
}

/** True if a transform takes the body of a request apart. */
export function readsRequest({ requestTransform, requestSteps }: InvokedProxy): boolean {
  return requestTransform !== null || needsBody(requestSteps);
}

/** True if the body of a request must be there before it goes out. */
export const needsWholeRequest = (proxy: InvokedProxy): boolean =>
  readsRequest(proxy) || signsBody(proxy);

/** The values of the body whose expressions steps leave as they are, if there are any. */
export function sparedBy(
  { requestSteps }: InvokedProxy,
  headers: readonly string[],
  whole: Buffer,
  room: Room,
): Promise<Spared | undefined> | undefined {
  if (whole.length === 0) return undefined;
  if (!requestSteps.some(({ type }) => type === 'detokenize')) return undefined;
  return sparedOf(requestSteps, headers, whole, room);
}

async function sparedOf(
  steps: readonly TransformStep[],
  headers: readonly string[],
  whole: Buffer,
  room: Room,
): Promise<Spared | undefined> {
  const { context, encoding } = bodyFormatOf(headers);
  // In other bodies no expression is replaced, or the steps refuse them.
  if (context !== 'json' || encoding !== 'identity') return undefined;
  room.keep(whole.length * sparedCopies);
  const document = await inSlices(readExactJson(whole), room.takeTurn);
  return inSlices(withoutValuesAt(steps, document), room.takeTurn);
}

/** Copies of the body: as text, parsed, and as the text that is scanned for expressions. */
const sparedCopies = 3;

/** The request as steps and then code make it, or the answer that code gives instead. */
export async function transformRequest(
  ctx: GatewayContext,
  transforming: Transforming,
  req: IncomingMessage,
  prepared: Prepared,
): Promise<ProxiedRequest | { readonly answer: MadeAnswer }> {
  const { decision } = transforming;
  const { requestTransform, requestSteps } = decision.decided.proxy;
  // The body may have taken its time to come.
  if (!decision.isConfirmed()) await decision.confirm();
  const putBack = prepared.spared?.putBack;
  const { suffix } = prepared;
  const received = hidesFromBody(requestSteps) ? undefined : prepared.whole;
  let stepped: SteppedMessage<OutgoingBody>;
  let seen: SeenBody = {};
  try {
    stepped = await stepMessage(ctx, transforming, 'request', prepared, putBack);
    if (requestTransform) seen = await seenBodyOf(transforming, stepped, received);
  } catch (error) {
    return refuseAsItCame(prepared, error);
  }
  const { query, body } = stepped;
  // Hot path: a literal of a fixed shape costs a fraction of a spread.
  if (!requestTransform) return { suffix, query, headers: stepped.headers, body };
  const headers = seenHeaders(stepped.headers);
  if (req.headers.host !== undefined) headers.host = req.headers.host;
  // Code sees the decoded body.
  delete headers['content-encoding'];
  const args = {
    ...seen,
    headers,
    method: req.method,
    path: suffix,
    query: query === '' ? '' : `?${query}`,
  };
  // Steps and turns may have taken time too.
  if (!decision.isConfirmed()) await decision.confirm();
  const made = await runTransform(ctx, transforming, 'request', requestTransform, args);
  if (made.isAnswer) return { answer: made };
  return {
    suffix,
    query,
    headers: [...withoutDigests(made.headers, prepared.headers), ...hopsOf(prepared.headers)],
    body: made.body,
  };
}

/**
 * A place behind the data of a token would tell how long that is. So the place of a fault is that in
 * the body as it came.
 */
async function refuseAsItCame({ body, whole }: Prepared, error: unknown): Promise<never> {
  const hasPlace = error instanceof Problem && error.detail?.includes(' at line ');
  if (!hasPlace || !whole || body === whole) throw error;
  await inSlices(readExactJson(whole));
  throw new Problem('invalid_json', { cause: error });
}

/** A transform must not hide from later hops where the request has been. */
function hopsOf(headers: readonly string[]): string[] {
  return withoutNames(headers, (lower) => lower !== hopHeader.toLowerCase());
}

/** `received`: undefined if steps have hidden a part of it. */
async function seenBodyOf(
  { room }: Transforming,
  { headers, body }: Pick<ProxiedRequest, 'headers' | 'body'>,
  received: Buffer | undefined,
): Promise<SeenBody> {
  if (!Buffer.isBuffer(body)) return {};
  const format = bodyFormatOf(headers);
  const textOf = (bytes: Buffer) => textOfBody(bytes, format, room.keep);
  const text = await textOf(body);
  const raw = body === received ? text : received && (await textOf(received));
  return room.takeApart(text.length, seenBody(text, format, raw));
}
