import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toProblem } from '@glovebox/problems';
import type { ServiceHeaders } from './service-headers';

export const traceHeader = 'SVC-TRACE-ID';

/** The caller's trace id, where it gave one that is fit for logs and headers. */
export function traceIdOf(req: IncomingMessage, headers: ServiceHeaders): string {
  const given = headers.read(req, 'trace-id');
  if (given !== undefined && /^[\w.:-]{1,64}$/.test(given)) return given;
  const traceparent = req.headers.traceparent;
  const [, traceId] =
    typeof traceparent === 'string'
      ? (/^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(traceparent) ?? [])
      : [];
  return traceId ?? randomUUID();
}

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

/** Any throw ends here: as the common error, or under `proxy_error` for a proxy call. */
export function sendProblem(
  req: IncomingMessage,
  res: ServerResponse,
  thrown: unknown,
  options: { traceId: string; under?: 'proxy_error' },
): void {
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  const problem = toProblem(thrown);
  const { retryAfterSeconds } = problem;
  sendJson(
    res,
    problem.status,
    options.under ? { [options.under]: problem.body() } : problem.body(),
    {
      [traceHeader]: options.traceId,
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      // What is left of an unread body must not be taken for the next request.
      ...(req.complete ? {} : { connection: 'close' }),
    },
  );
}
