import { requirePermission } from '@glovebox/access';
import type { TransformStep } from '@glovebox/definitions';
import { Budget, nowOrInSlices } from '@glovebox/expressions';
import { applicationGone, Problem } from '@glovebox/problems';
import type { Viewer } from '@glovebox/vault';
import type { GatewayContext } from '../../context';
import type { TokenRequest } from './token-placeholders';
import { bodyFormatOf, textOfBody, withoutDigests, withoutFraming } from './content';
import { readExactJson, writeExactJson } from './exact-json';
import { applicationOf, type Transforming } from './run-transform';
import { applySteps, needsBody } from './steps';
import { failedInSteps, type Side } from './transform-failure';

/** A request or an answer. The body is as it came, or already changed. */
export interface SteppedMessage<Body> {
  /** Name, value, name, value… */
  readonly headers: string[];
  readonly query: string;
  readonly body: Body;
}

/**
 * Applies the steps to a message. A body that is not JSON ends the call if a step is about the
 * body: it could hold the value that the step would hide.
 */
export async function stepMessage<Body>(
  ctx: GatewayContext,
  transforming: Transforming,
  side: Side,
  message: SteppedMessage<Body>,
  putBack?: (document: unknown) => unknown,
): Promise<SteppedMessage<Body | Buffer>> {
  const { requestSteps, responseSteps } = transforming.decision.decided.proxy;
  const steps = side === 'request' ? requestSteps : responseSteps;
  if (steps.length === 0) return message;
  try {
    return await stepped(ctx, transforming, { side, steps, message, putBack });
  } catch (thrown) {
    throw failedInSteps(thrown, side);
  }
}

interface Stepping<Body> {
  readonly side: Side;
  readonly steps: readonly TransformStep[];
  readonly message: SteppedMessage<Body>;
  readonly putBack: ((document: unknown) => unknown) | undefined;
}

async function stepped<Body>(
  ctx: GatewayContext,
  transforming: Transforming,
  { side, steps, message, putBack }: Stepping<Body>,
): Promise<SteppedMessage<Body | Buffer>> {
  const { room } = transforming;
  const document = needsBody(steps) ? await documentOf(message, transforming) : undefined;
  const { headers, query, body } = await applySteps(
    steps,
    {
      headers: message.headers,
      query: message.query,
      body: putBack ? putBack(document) : document,
    },
    {
      side,
      serviceHeaders: ctx.headers,
      budget: new Budget(room),
      appended: side === 'request' ? transforming.appended : undefined,
      tokenize: async (requests) =>
        transforming.isDry
          ? requests.map(() => tokenToCome)
          : tokenize(ctx, transforming, side, requests),
    },
  );
  if (document === undefined) return { headers, query, body: message.body };
  const text = await nowOrInSlices(writeExactJson(body), room.takeTurn);
  const changed = withoutDigests(withoutFraming(headers), message.headers);
  return { headers: changed, query, body: Buffer.from(text) };
}

/** Stands where a call would put the id of a new token. */
export const tokenToCome = 'new-token';

/** Undefined when there is no body. */
async function documentOf(
  { headers, body }: SteppedMessage<unknown>,
  { room }: Transforming,
): Promise<unknown> {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  const format = bodyFormatOf(headers);
  if (format.context !== 'json') {
    throw new Problem('unsupported_media_type', { detail: 'Steps change JSON only.' });
  }
  const text = await textOfBody(body, format, room.keep);
  room.keep(text.length * documentCopies);
  return nowOrInSlices(readExactJson(text), room.takeTurn);
}

/** Copies of the body: parsed, and written anew. */
const documentCopies = 3;

async function tokenize(
  ctx: GatewayContext,
  { decision, call, reach }: Transforming,
  side: Side,
  requests: readonly TokenRequest[],
): Promise<readonly string[]> {
  const application = await applicationOf(ctx, decision.decided.proxy);
  if (!application) throw applicationGone('proxy');
  try {
    // What a destination answers is not bound by what was sent to it.
    const within = side === 'request' ? reach : undefined;
    return await tokenizeAs(
      ctx,
      { principal: application, traceId: call.traceId, reach: within },
      requests,
    );
  } catch (error) {
    const isDenied = error instanceof Problem && error.code === 'permission_denied';
    if (!isDenied || decision.decided.caller) throw error;
    // An anonymous caller learns neither what the application lacks nor where.
    throw new Problem('permission_denied', { cause: error });
  }
}

/** Makes the tokens of one message in one transaction, as the application of its proxy. */
export async function tokenizeAs(
  { database, vault }: Pick<GatewayContext, 'database' | 'vault'>,
  actor: Viewer,
  requests: readonly TokenRequest[],
): Promise<readonly string[]> {
  const { principal } = actor;
  requirePermission(principal, 'token:create');
  const tokens = requests.map(({ token, data }) => ({ ...token, data }));
  const document = await database
    .shareOf(principal.tenantId)
    .transaction((sql) => vault.tokenize(sql, actor, tokens));
  // The document holds one token per request for one, in the same order.
  return (document as readonly { readonly id: string }[]).map(({ id }) => id);
}
