import type { NextFunction, RequestHandler, Response } from 'express';
import type { ManagementContext } from '../context';
import type { ApiRequest } from './request';
import { setSecurityHeaders } from './security-headers';

/** Runs first: sets the trace id and the common headers, and measures the time for the metrics. */
export function observe({ headers, duration }: ManagementContext): RequestHandler {
  return (req, res: Response, next: NextFunction) => {
    const request = req as ApiRequest;
    const startedAt = performance.now();
    request.traceId = headers.traceIdOf(request);
    res.setHeader('SVC-TRACE-ID', request.traceId);
    setSecurityHeaders(res);
    res.once('close', () => {
      const { path: route = 'none' } = (request.route ?? {}) as { path?: string };
      const labels = { method: request.method, route, status: res.statusCode };
      duration.observe(labels, (performance.now() - startedAt) / 1_000);
    });
    next();
  };
}
