import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, RequestHandler } from 'express';
import { inSlices } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { buildInfo } from '@glovebox/service-host';
import { isJsonObject, readBody, StrictJson } from '@glovebox/wire';
import type { ManagementContext } from '../context';
import { checkMediaType } from '../http/check-media-type';
import type { ApiRequest } from '../http/request';
import { BodyRoom } from '../shares/body-room';
import { Oidc } from './oidc';
import { toSessionResponse } from './session.dto';
import { openSession } from './sessions';

const codeBytesMax = 4 * 1024;
/** Those who are not signed in yet share the room of one tenant. */
const nobody = 'not signed in';

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
  checkMediaType(request);
  ctx.strangers.countSignIn(request);
  const { code, binding } = await readCode(ctx, request);
  const { key, session } = await openSession(ctx, { code, binding, traceId: request.traceId });
  return { key, ...toSessionResponse(session) };
}

async function readCode(
  { bodies }: ManagementContext,
  request: ApiRequest,
): Promise<{ readonly code: string; readonly binding?: string }> {
  const room = new BodyRoom(bodies, nobody);
  try {
    const json = new StrictJson();
    const bytes = await readBody(request, codeBytesMax, room, json.count);
    const body = bytes.length === 0 ? {} : await inSlices(json.parse(bytes));
    const { code, binding } = isJsonObject(body) ? body : {};
    if (typeof code !== 'string') throw invalid({ code: ['must be the code of a link'] });
    return typeof binding === 'string' ? { code, binding } : { code };
  } finally {
    room.leave();
  }
}

const noSuchPath = (): Problem =>
  new Problem('not_found', { detail: 'There is no such path. GET /docs lists all.' });

function oidcOf(ctx: ManagementContext): Oidc | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } = ctx.config;
  if (issuer === undefined || id === undefined || secret === undefined) return undefined;
  return new Oidc(ctx, { issuer, id, secret });
}
