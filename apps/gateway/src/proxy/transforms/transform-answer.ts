import { traceHeader } from '@glovebox/wire';
import { endAsRead } from '../../call/answers';
import type { InvokedProxy } from '../../call/caller';
import { withOriginHeaders } from '../../call/pages';
import { destinationStatusHeader } from '../../connection/forwarded-headers';
import type { GatewayContext } from '../../context';
import { asAnswerFault } from './answer-fault';
import { scrubbedMade } from '../scrub/scrubbed-message';
import type { CollectedAnswer } from './collect';
import { bodyFormatOf, textOfBody, withoutDigests, withoutFraming } from './content';
import { runTransform, type Transforming } from './run-transform';
import { seenBody, seenHeaders, type SeenBody } from './seen-by-code';
import type { MadeAnswer } from './sent-by-code';
import { stepMessage } from './step-message';
import { needsBody } from './steps';

/** True if a transform takes the body of the answer apart. */
export function readsAnswer({ responseTransform, responseSteps }: InvokedProxy): boolean {
  return responseTransform !== null || needsBody(responseSteps);
}

/** Applies code and then steps to the answer of the destination. */
export async function transformAnswer(
  ctx: GatewayContext,
  transforming: Transforming,
  answer: CollectedAnswer,
): Promise<MadeAnswer> {
  try {
    return await transformed(ctx, transforming, answer);
  } catch (thrown) {
    throw asAnswerFault(thrown, answer);
  }
}

async function transformed(
  ctx: GatewayContext,
  transforming: Transforming,
  answer: CollectedAnswer,
): Promise<MadeAnswer> {
  const made = await afterCode(ctx, transforming, answer);
  if (made.isAnswer) return made;
  const { status, headers, body } = made;
  const { room, call } = transforming;
  room.keepOnly((body?.length ?? 0) + (call.putIn?.searchBytes ?? 0));
  const message = { headers, body, query: '' };
  const stepped = await stepMessage(ctx, transforming, 'response', message);
  return { status, headers: withoutFraming(stepped.headers), body: stepped.body };
}

async function afterCode(
  ctx: GatewayContext,
  transforming: Transforming,
  answer: CollectedAnswer,
): Promise<MadeAnswer & { readonly isAnswer: boolean }> {
  const { responseTransform } = transforming.decision.decided.proxy;
  const { status } = answer;
  if (!responseTransform) return { ...answer, headers: [...answer.headers], isAnswer: false };
  const headers = seenHeaders(withoutFraming(answer.headers));
  const args = { ...(await seenBodyOf(transforming, answer)), headers, status };
  const made = await runTransform(ctx, transforming, 'response', responseTransform, args);
  if (made.isAnswer) return made;
  return {
    ...made,
    status: made.status ?? status,
    headers: withoutDigests(made.headers, answer.headers),
  };
}

async function seenBodyOf(
  { room }: Transforming,
  { headers, body }: CollectedAnswer,
): Promise<SeenBody> {
  if (body.length === 0) return {};
  const format = bodyFormatOf(headers);
  const text = await textOfBody(body, format, room.keep);
  return room.takeApart(text.length, seenBody(text, format, text));
}

/** Sends an answer that was made here. */
export async function sendMade(
  ctx: GatewayContext,
  made: MadeAnswer,
  { res, call, room }: Pick<Transforming, 'res' | 'call' | 'room'>,
): Promise<void> {
  const search = await call.putIn?.searchIn(room);
  const { status, headers, body } = search ? await scrubbedMade(search, made, room) : made;
  if (res.destroyed) return;
  call.capture?.answered(status, headers, body);
  const hasNoBody = status === 204 || status === 304;
  const lines = [...withOriginHeaders([...headers], call), traceHeader, call.traceId];
  if (call.destinationStatus !== undefined) {
    lines.push(destinationStatusHeader, String(call.destinationStatus));
  }
  // The length in an answer to HEAD would be that of another answer.
  if (!hasNoBody && res.req.method !== 'HEAD') {
    call.answerBytes = body?.length ?? 0;
    lines.push('content-length', String(call.answerBytes));
  }
  res.writeHead(status, lines);
  if (hasNoBody || !body) res.end();
  else await endAsRead(ctx, res, body);
}
