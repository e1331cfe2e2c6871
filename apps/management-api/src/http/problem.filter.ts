import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { asUnavailable } from '@glovebox/database';
import { Problem, toProblem, type ProblemCode } from '@glovebox/problems';
import { describeError, type Logger } from '@glovebox/service-host';
import { discardRest } from '@glovebox/wire';
import type { ApiRequest } from './request';

/** Codes for the errors that Nest throws before our code runs. */
const codeOfStatus: Readonly<Record<number, ProblemCode>> = {
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
};

/** Turns every thrown value into the common error. Only the log shows the cause. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    const problem = problemOf(thrown);
    request.problem = problem;
    if (problem.status >= 500) {
      const { traceId } = request;
      this.logger.error({ error: describeError(problem), traceId }, 'a request failed');
    }
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (problem.retryAfterSeconds !== undefined) {
      response.setHeader('retry-after', String(problem.retryAfterSeconds));
    }
    if (problem.allow) response.setHeader('allow', problem.allow.join(', '));
    // It was of the answer that there would have been.
    response.removeHeader('etag');
    discardRest(request);
    response.status(problem.status).json(problem.body());
  }
}

/** The problem that answers a thrown value. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof HttpException) {
    return new Problem(codeOfStatus[thrown.getStatus()] ?? 'internal_error', { cause: thrown });
  }
  return toProblem(asUnavailable(thrown));
}
