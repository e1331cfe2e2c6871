import type { IncomingMessage, ServerResponse } from 'node:http';
import { toProblem } from '@glovebox/problems';
import { traceHeader } from '@glovebox/wire';
import { endConnection } from '../connection/caller-connection';
import { destinationStatusHeader } from '../connection/forwarded-headers';
import { hasBody } from '../connection/intake';
import type { Call } from '../observing/call';

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(res, status, JSON.stringify(body), headers);
}

/** Sends JSON that is written already. */
export function sendText(
  res: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  res.end(text);
}

/** Answers whatever was thrown: as the common error, or under `proxy_error` for a proxy call. */
export function sendProblem(
  req: IncomingMessage,
  res: ServerResponse,
  thrown: unknown,
  call: Call,
): void {
  const problem = toProblem(thrown);
  call.problem = problem;
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  // The unread rest of a body must not be taken for the next request.
  if (!req.complete && hasBody(req)) endConnection(res);
  const { retryAfterSeconds, allow } = problem;
  const { destinationStatus, problemMember } = call;
  const body = problemMember ? { [problemMember]: problem.body() } : problem.body();
  sendJson(res, problem.status, body, {
    [traceHeader]: call.traceId,
    ...(destinationStatus === undefined
      ? {}
      : { [destinationStatusHeader]: String(destinationStatus) }),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(allow === undefined ? {} : { allow: allow.join(', ') }),
  });
}
