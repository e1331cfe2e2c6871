import type { IncomingMessage, ServerResponse } from 'node:http';
import { toProblem, type Problem } from '@glovebox/problems';
import { traceHeader } from '@glovebox/service-host';
import { endConnection } from './caller-connection';
import { hasBody } from './intake';

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  res.end(text);
}

/** Of a call, what an error needs: `Call` in full. */
interface Answering {
  readonly traceId: string;
  readonly under?: 'proxy_error' | undefined;
  problem?: Problem | undefined;
}

/** Any throw ends here: as the common error, or under `proxy_error` for a proxy call. */
export function sendProblem(
  req: IncomingMessage,
  res: ServerResponse,
  thrown: unknown,
  call: Answering,
): void {
  const problem = toProblem(thrown);
  call.problem = problem;
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  // What is left of an unread body must not be taken for the next request.
  if (!req.complete && hasBody(req)) endConnection(res);
  const { retryAfterSeconds } = problem;
  sendJson(res, problem.status, call.under ? { [call.under]: problem.body() } : problem.body(), {
    [traceHeader]: call.traceId,
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  });
}
