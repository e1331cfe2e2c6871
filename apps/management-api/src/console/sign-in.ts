import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, RequestHandler } from 'express';
import { invalid, Problem } from '@glovebox/problems';
import { buildInfo } from '@glovebox/service-host';
import type { ManagementContext } from '../context';
import type { ApiRequest } from '../http/request';
import { Oidc } from './oidc';
import { readSmallBody } from './read-small-body';
import { serveMachines } from './serve-machines';
import { toSessionResponse } from './session.dto';
import { openSession } from './sessions';

/** Serves what the page needs before anybody has signed in, and hides it from the main port. */
export function serveSignIn(app: NestExpressApplication, ctx: ManagementContext): void {
  const http = app.getHttpAdapter().getInstance() as Express;
  const oidc = oidcOf(ctx);
  const hide: RequestHandler = (request, _, next) =>
    next((request as ApiRequest).isOfConsole ? undefined : noSuchPath());
  http.use('/console', hide);
  http.get('/console', (_, response) => {
    response.json({
      api_key_header: 'SVC-API-KEY',
      oidc: oidc !== undefined,
      version: buildInfo.version,
    });
  });
  const open: RequestHandler = (request, response, next) => {
    openWithCode(ctx, request as ApiRequest).then((body) => response.status(201).json(body), next);
  };
  http.post('/console/sessions', open);
  serveMachines(http, ctx);
  if (!oidc) return;
  const redirected =
    (work: (request: ApiRequest) => Promise<string>): RequestHandler =>
    (request, response, next) => {
      ctx.strangers.countSignIn(request);
      work(request as ApiRequest).then((url) => response.redirect(url), next);
    };
  http.get(
    '/console/oidc/start',
    redirected((request) => oidc.start(request)),
  );
  http.get(
    '/console/oidc/callback',
    redirected((request) => oidc.finish(request)),
  );
}

async function openWithCode(ctx: ManagementContext, request: ApiRequest): Promise<object> {
  ctx.strangers.countSignIn(request);
  const { code, binding } = await readSmallBody(ctx, request);
  if (typeof code !== 'string') throw invalid({ code: ['must be the code of a link'] });
  const { key, session } = await openSession(ctx, {
    ...{ code, traceId: request.traceId },
    binding: typeof binding === 'string' ? binding : undefined,
  });
  return { key, ...toSessionResponse(session) };
}

const noSuchPath = (): Problem =>
  new Problem('not_found', { detail: 'There is no such path. GET /docs lists all.' });

function oidcOf(ctx: ManagementContext): Oidc | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } = ctx.config;
  if (issuer === undefined || id === undefined || secret === undefined) return undefined;
  return new Oidc(ctx, { issuer, id, secret });
}
