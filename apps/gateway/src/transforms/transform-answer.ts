import { Problem } from '@glovebox/problems';
import { traceHeader } from '@glovebox/service-host';
import type { GatewayContext } from '../context';
import { destinationStatusHeader } from '../forwarded-headers';
import type { CollectedAnswer } from './collect';
import { readingOf, textOfBody } from './content';
import { runTransform, type Transforming } from './run-transform';
import { seenBody, seenHeaders, type SeenBody } from './seen-by-code';
import type { Sendable } from './sent-by-code';

/** Asks the destination for what can be unpacked here, whatever the caller could. */
export function acceptPacked(headers: string[]): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (headers[at]?.toLowerCase() === 'accept-encoding') headers.splice(at, 2);
  }
  headers.push('accept-encoding', 'gzip, deflate, br');
}

/** The answer of the destination as code makes it. */
export async function transformAnswer(
  ctx: GatewayContext,
  transforming: Transforming,
  answer: CollectedAnswer,
): Promise<Sendable> {
  const { responseTransform } = transforming.decision.proxy;
  const { status } = answer;
  if (!responseTransform) return { ...answer, headers: [...answer.headers] };
  const headers = seenHeaders(answer.headers);
  // What code sees is unpacked.
  delete headers['content-encoding'];
  delete headers['content-length'];
  const args = { ...(await seenBodyOf(transforming, answer)), headers, status };
  const made = await runTransform(ctx, transforming, 'response transform', responseTransform, args);
  return { ...made, status: made.status ?? status };
}

async function seenBodyOf(
  { room }: Transforming,
  { headers, body }: CollectedAnswer,
): Promise<SeenBody> {
  if (body.length === 0) return {};
  try {
    const reading = readingOf(headers);
    const text = await textOfBody(body, reading, room.keep, invalidAnswer);
    return await room.takeApart(body, () => seenBody(text, reading));
  } catch (thrown) {
    // The caller has done nothing wrong.
    if (!(thrown instanceof Problem) || thrown.status !== 400) throw thrown;
    throw invalidAnswer(thrown.message, thrown);
  }
}

const invalidAnswer = (detail: string, cause?: unknown): Problem =>
  new Problem('destination_answer_invalid', { detail, cause });

/** An answer that was made here, as the answer of the call. */
export function sendMade(
  { status = 500, headers, body }: Sendable,
  { res, call }: Transforming,
): void {
  if (res.destroyed) return;
  const hasNoBody = status === 204 || status === 304;
  const lines = [...headers, traceHeader, call.traceId];
  if (call.destinationStatus !== undefined) {
    lines.push(destinationStatusHeader, String(call.destinationStatus));
  }
  if (!hasNoBody) lines.push('content-length', String(body?.length ?? 0));
  res.writeHead(status, lines);
  res.end(hasNoBody ? undefined : body);
}
