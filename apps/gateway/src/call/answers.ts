import type { IncomingMessage, ServerResponse } from 'node:http';
import { toProblem } from '@glovebox/problems';
import { PacedAnswer, traceHeader } from '@glovebox/wire';
import { endConnection } from '../connection/caller-connection';
import type { CallerResponse } from '../connection/caller-response';
import { destinationStatusHeader } from '../connection/forwarded-headers';
import { hasBody } from '../connection/intake';
import type { GatewayContext } from '../context';
import type { Call } from '../observing/call';
import type { Room } from './call-shares';
import { recordProblem } from './failures';

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(res, status, JSON.stringify(body), headers);
}

/** Sends JSON that is written already. */
function sendText(
  res: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  writeJsonHead(res, status, text, headers);
  res.end(text);
}

function writeJsonHead(
  res: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
}

/** A larger answer is sent as its caller reads it. */
const smallAnswerBytesMax = 64 * 1024;

/**
 * Sends the JSON of work that is done. A large one counts as memory of the call until it is read.
 * Where there is no room for it, the connection ends: 429 would say that nothing was done.
 */
export async function sendDone(
  ctx: Pick<GatewayContext, 'config'>,
  res: CallerResponse,
  room: Room,
  { status, text }: { readonly status: number; readonly text: string | Buffer },
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const bytes = Buffer.byteLength(text);
  if (bytes <= smallAnswerBytesMax) return sendText(res, status, text, headers);
  try {
    room.keep(bytes);
  } catch {
    return void res.destroy();
  }
  writeJsonHead(res, status, text, headers);
  await endAsRead(ctx, res, typeof text === 'string' ? Buffer.from(text) : text);
}

/** Ends an answer in one piece. A caller that reads too slowly loses its connection. */
export async function endAsRead(
  { config }: Pick<GatewayContext, 'config'>,
  res: CallerResponse,
  body: Buffer,
): Promise<void> {
  if (body.length <= smallAnswerBytesMax) return res.endAtOnce(body);
  const pace = { idleMs: config.ANSWER_IDLE_MS, wholeMs: config.ANSWER_WHOLE_MS };
  const answer = new PacedAnswer(res, pace);
  try {
    await answer.write(body);
    await answer.end();
  } catch {
    res.destroy();
  }
}

/** Answers whatever was thrown: as the common error, or under `proxy_error` for a proxy call. */
export function sendProblem(
  req: IncomingMessage,
  res: ServerResponse,
  thrown: unknown,
  call: Call,
): void {
  const problem = toProblem(thrown);
  recordProblem(call, problem);
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  // The unread rest of a body must not be taken for the next request.
  if (!req.complete && hasBody(req)) endConnection(res);
  const { retryAfterSeconds, allow } = problem;
  const { destinationStatus, problemMember } = call;
  const shown = problem.body({ withCause: call.isKeyed });
  const text = JSON.stringify(problemMember ? { [problemMember]: shown } : shown);
  call.answerBytes = Buffer.byteLength(text);
  sendText(res, problem.status, text, {
    [traceHeader]: call.traceId,
    ...call.originHeaders,
    ...(destinationStatus === undefined
      ? {}
      : { [destinationStatusHeader]: String(destinationStatus) }),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(allow === undefined ? {} : { allow: allow.join(', ') }),
    ...(problem.status === 407 ? { 'proxy-authenticate': 'Basic realm="Glovebox"' } : {}),
  });
}
