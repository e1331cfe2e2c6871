import type { CallLog } from '@glovebox/calls';
import type { NextFunction, RequestHandler, Response } from 'express';
import type { ManagementContext } from '../context';
import { pathTemplate } from '../openapi/routes';
import { isUuid } from '../validation/uuid';
import type { ApiRequest } from './request';
import { setSecurityHeaders } from './security-headers';

/**
 * Runs first: sets the trace id and the common headers, measures the time for the metrics, and logs
 * the call.
 */
export function observe({ headers, duration, callLog }: ManagementContext): RequestHandler {
  return (req, res: Response, next: NextFunction) => {
    const request = req as ApiRequest;
    const startedAt = performance.now();
    request.traceId = headers.traceIdOf(request);
    res.setHeader('SVC-TRACE-ID', request.traceId);
    setSecurityHeaders(res);
    res.once('close', () => {
      const { path: route = 'none' } = (request.route ?? {}) as { path?: string };
      const labels = { method: request.method, route, status: res.statusCode };
      const durationMs = performance.now() - startedAt;
      duration.observe(labels, durationMs / 1_000);
      logCall(callLog, request, res, { route, startedAt, durationMs });
    });
    next();
  };
}

/** The path template of each route, of which there are a few. */
const templates = new Map<string, string>();

/**
 * Readings of the log itself, and of what is made of it, would fill it, and so would a page of the
 * console that is left open.
 */
const isOwnReading = (template: string, { method, isOfConsole }: ApiRequest): boolean =>
  /^\/(calls|overview)(\/|$)/.test(template) ||
  (isOfConsole === true && /^(?:GET|HEAD)$/.test(method));

function logCall(
  callLog: CallLog,
  request: ApiRequest,
  res: Response,
  end: { readonly route: string; readonly startedAt: number; readonly durationMs: number },
): void {
  const { route, startedAt, durationMs } = end;
  const { principal, problem } = request;
  if (!principal && problem?.code !== 'invalid_api_key') return;
  const template = templates.get(route) ?? pathTemplate(route);
  templates.set(route, template);
  if (isOwnReading(template, request)) return;
  const call = {
    method: request.method,
    traceId: request.traceId,
    startedAt,
    tenantId: principal?.tenantId,
    applicationId: principal?.type === 'person' ? undefined : principal?.actorId,
    proxyId: undefined,
    reactorId: undefined,
    decidedAt: request.decidedAt,
    askedAt: undefined,
    answeredAt: undefined,
    destinationStatus: undefined,
    problem,
    requestBytes: bytesOf(request.headers['content-length']),
    answerBytes: bytesOf(res.getHeader('content-length')),
    tokenIds: tokensOf(template, request, res),
    runId: undefined,
    requestRunId: undefined,
    responseRunId: undefined,
  };
  callLog.add(template, call, {
    durationMs,
    status: res.headersSent ? res.statusCode : undefined,
    left: !res.writableFinished,
  });
}

const bytesOf = (length: unknown): number | undefined =>
  length === undefined ? undefined : Number(length);

/**
 * The token that the call made, or that of the path, if there is one: what names none may be
 * anything, even the data itself.
 */
function tokensOf(
  template: string,
  { params, madeTokenId }: ApiRequest,
  res: Response,
): string[] | undefined {
  if (madeTokenId !== undefined) return [madeTokenId];
  const { id } = params;
  if (template !== '/tokens/{id}' || typeof id !== 'string' || res.statusCode >= 400) {
    return undefined;
  }
  return [isUuid(id) ? id.toLowerCase() : id];
}
