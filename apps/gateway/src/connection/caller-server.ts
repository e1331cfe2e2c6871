import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { watchServer } from '@glovebox/service-host';
import { lingerBehindAnswers } from '@glovebox/wire';
import { sendProblem } from '../call/answers';
import type { GatewayConfig } from '../config';
import { maySpeak, refuseLate, refuseUnparsable } from './caller-connection';
import type { CallerRequest } from './caller-request';
import { CallerResponse } from './caller-response';
import { answerHalfClosed } from './half-closed';
import { responseOn } from './upgrade';

const headBytesMax = 32 * 1024;

/** A server for callers, with every protection of their connections. */
export function createCallerServer(
  {
    HEADERS_TIMEOUT_MS: headersTimeout,
    REQUEST_TIMEOUT_MS: requestTimeout,
  }: Pick<GatewayConfig, 'HEADERS_TIMEOUT_MS' | 'REQUEST_TIMEOUT_MS'>,
  Request: typeof CallerRequest,
  answer: (req: CallerRequest, res: CallerResponse) => void,
): Server {
  const server = createServer({
    IncomingMessage: Request,
    ServerResponse: CallerResponse,
    headersTimeout: Math.min(headersTimeout, requestTimeout),
    requestTimeout,
    connectionsCheckingInterval: Math.min(5_000, headersTimeout, requestTimeout),
    keepAliveTimeout: 75_000,
    // Node refuses the head that has as many.
    maxHeaderSize: headBytesMax + 1,
    // intake.ts checks both: Node would answer without a body, and drop headers in silence.
    requireHostHeader: false,
  });
  server.maxHeadersCount = 0;
  const serve = (req: CallerRequest, res: CallerResponse): void => {
    if (maySpeak(req, res)) answer(req, res);
  };
  const refuse = (res: CallerResponse, thrown: unknown): void => {
    if (res.call) sendProblem(res.req, res, thrown, res.call);
  };
  const serveOn = (req: CallerRequest, socket: Socket, head: Buffer): void =>
    serve(req, responseOn(req, socket, head));
  server.on('request', serve);
  server.on('checkContinue', serve);
  server.on('checkExpectation', serve);
  server.on('upgrade', serveOn);
  // Reached only where the class of requests accepts it.
  server.on('connect', serveOn);
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return refuseUnparsable(error, socket, refuse);
    refuseLate(error, socket, refuse, requestTimeout);
  });
  lingerBehindAnswers(server);
  answerHalfClosed(server);
  watchServer(server);
  return server;
}
