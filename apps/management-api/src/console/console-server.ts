import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Problem } from '@glovebox/problems';
import { watchServer } from '@glovebox/service-host';
import { discardRest, lingerBehindAnswers } from '@glovebox/wire';
import type { ManagementConfig } from '../config';
import type { ApiRequest } from '../http/request';
import { setSecurityHeaders } from '../http/security-headers';
import { servePages } from './pages';

type ConsoleConfig = Pick<
  ManagementConfig,
  'HOST' | 'CONSOLE_PORT' | 'CONSOLE_URL' | 'CONSOLE_FILES'
>;

const headBytesMax = 16 * 1024;

/**
 * The listener of the console: the page, and under /api the same application as on the main port,
 * for sessions alone. It is an origin of its own, because /proxy hands out pages of destinations
 * under the base URL. Call it once the application listens. Without a port there is no console.
 */
export async function listenForConsole(
  app: NestExpressApplication,
  config: ConsoleConfig,
): Promise<Server | undefined> {
  if (config.CONSOLE_PORT === undefined) return undefined;
  const server = createConsoleServer(config, app.getHttpAdapter().getInstance() as RequestListener);
  server.listen(config.CONSOLE_PORT, config.HOST);
  await once(server, 'listening');
  return server;
}

function createConsoleServer(config: ConsoleConfig, api: RequestListener): Server {
  const servePage = servePages(config.CONSOLE_FILES ?? join(__dirname, '../console'));
  const server = createServer({ maxHeaderSize: headBytesMax }, (request, response) => {
    const path = pathUnderApi(request.url ?? '/');
    const problem =
      misdirected(config, request) ?? (path === undefined ? undefined : foreign(request, path));
    if (problem) {
      setSecurityHeaders(response);
      discardRest(request);
      response.writeHead(problem.status, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(problem.body()));
    }
    if (path === undefined) return servePage(request, response);
    request.url = path;
    (request as ApiRequest).isOfConsole = true;
    api(request, response);
  });
  server.requestTimeout = 60_000;
  server.headersTimeout = 20_000;
  lingerBehindAnswers(server);
  watchServer(server);
  return server;
}

/** The path of the application, if the URL is one of it. */
function pathUnderApi(url: string): string | undefined {
  const rest = url.startsWith('/api') ? url.slice('/api'.length) : undefined;
  if (rest === '') return '/';
  return rest?.startsWith('/') ? rest : rest?.startsWith('?') ? `/${rest}` : undefined;
}

/**
 * Refuses any other name: a page of a stranger whose name points here would be of the same origin as
 * ours in the eyes of a browser.
 */
function misdirected(
  { CONSOLE_URL }: ConsoleConfig,
  request: IncomingMessage,
): Problem | undefined {
  const { host = '' } = request.headers;
  if (!URL.canParse(`http://${host}`)) return misdirectedRequest();
  const { hostname } = new URL(`http://${host}`);
  if (['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) return undefined;
  if (CONSOLE_URL !== undefined && new URL(CONSOLE_URL).hostname === hostname) return undefined;
  return misdirectedRequest();
}

/** Refuses what a page of another origin sends. An issuer sends people back to one path alone. */
function foreign({ headers, method }: IncomingMessage, path: string): Problem | undefined {
  const { origin, host, 'sec-fetch-site': site } = headers;
  const isBack = method === 'GET' && /^\/console\/oidc\/callback\?/.test(path);
  const isOwnSite = isBack || site === undefined || site === 'same-origin' || site === 'none';
  if (isOwnSite && (origin === undefined || hostOf(origin) === host)) return undefined;
  return new Problem('permission_denied', {
    detail: 'A page of another origin has sent this. The console answers its own page alone.',
  });
}

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;

const misdirectedRequest = (): Problem =>
  new Problem('misdirected_request', {
    detail: 'Open the console under 127.0.0.1 or localhost, or under the name of CONSOLE_URL.',
  });
