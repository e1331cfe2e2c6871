import type { TransformStep } from '@glovebox/definitions';
import { Budget, inSlices } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import type { GatewayContext } from '../../context';
import { readingOf, textOfBody, withoutDigests, withoutFraming, type Broken } from './content';
import { readExactJson, writeExactJson } from './exact-json';
import { applicationOf, type Transforming } from './run-transform';
import { applySteps, needsBody, type AskedToken } from './steps';
import { tokenizeSteps } from './tokenize-steps';

/** A request or an answer; the body as it came, or as something has made it. */
interface SteppedMessage<Body> {
  /** Name, value, name, value… */
  readonly headers: string[];
  readonly query: string;
  readonly body: Body;
}

/**
 * What the steps make of a message. Where one of them is about the body, a body that is not JSON ends
 * the call: let past, it could hold what the step would hide.
 */
export async function stepMessage<Body>(
  ctx: GatewayContext,
  transforming: Transforming,
  steps: readonly TransformStep[],
  message: SteppedMessage<Body>,
  {
    broken,
    putBack,
  }: {
    readonly broken: Broken;
    readonly putBack?: ((document: unknown) => unknown) | undefined;
  },
): Promise<SteppedMessage<Body | Buffer>> {
  if (steps.length === 0) return message;
  const { room } = transforming;
  const document = needsBody(steps) ? await documentOf(message, transforming, broken) : undefined;
  const { headers, query, body } = await applySteps(
    steps,
    { ...message, body: putBack ? putBack(document) : document },
    {
      serviceHeaders: ctx.headers,
      budget: new Budget(room),
      tokenize: (asked) => tokenize(ctx, transforming, asked),
    },
  );
  if (document === undefined) return { headers, query, body: message.body };
  const text = await inSlices(writeExactJson(body), room.takeTurn);
  const changed = withoutDigests(withoutFraming(headers), message.headers);
  return { headers: changed, query, body: Buffer.from(text) };
}

/** Undefined: there is no body. */
async function documentOf(
  { headers, body }: SteppedMessage<unknown>,
  { room }: Transforming,
  broken: Broken,
): Promise<unknown> {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  const reading = readingOf(headers);
  if (reading.context !== 'json') {
    throw new Problem('unsupported_media_type', { detail: 'Steps change JSON alone.' });
  }
  const text = await textOfBody(body, reading, room.keep, broken);
  room.keep(text.length * documentCopies);
  return inSlices(readExactJson(text), room.takeTurn);
}

/** Parsed, and written anew. */
const documentCopies = 3;

async function tokenize(
  ctx: GatewayContext,
  { decision, call }: Transforming,
  asked: readonly AskedToken[],
): Promise<readonly string[]> {
  const application = await applicationOf(ctx, decision.proxy);
  if (!application) throw new Problem('invalid_api_key');
  return tokenizeSteps(ctx, application, call.traceId)(asked);
}
