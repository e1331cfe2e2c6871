import { createServer, type RequestListener } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { RequestHandler, Response } from 'express';
import { methodNotAllowed, Problem } from '@glovebox/problems';
import { lingerBehindAnswers } from '@glovebox/wire';
import type { ManagementContext } from '../context';
import { Page } from '../lists/page';
import { noSuchPath } from './nearest-path';
import { sendPage } from '../lists/send-page';
import { actorOf, type ApiRequest } from './request';
import { sendWhole } from './send-whole';

/** More than the gateway takes from its callers, because it adds headers to theirs. */
const headBytesMax = 64 * 1024;

/** The part of Express's router that its types leave out. */
interface Routed {
  readonly router: {
    caseSensitive: boolean;
    readonly stack: readonly {
      readonly route?: {
        readonly path: string;
        readonly methods: Readonly<Record<string, boolean>>;
      };
      match(path: string): boolean;
    }[];
  };
}

export class HttpAdapter extends ExpressAdapter {
  constructor(private readonly ctx: ManagementContext) {
    super();
    // The setting of this name comes too late: the base class has made the router.
    this.getInstance<Routed>().router.caseSensitive = true;
  }

  /** Node itself refuses a head above 16 KiB, and says nothing to it. */
  override initHttpServer(): void {
    const listener = this.getInstance<RequestListener>();
    const server = createServer({ maxHeaderSize: headBytesMax }, listener);
    lingerBehindAnswers(server);
    this.setHttpServer(server);
  }

  /** Sends what a handler returned: a page, a document, or what is JSON already. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (status !== undefined) response.status(status);
    if (body === undefined) return response.send();
    const { tenantId } = actorOf(response.req as ApiRequest).principal;
    const { config, pageBytes, vault, bodies } = this.ctx;
    const pace = { idleMs: config.ANSWER_IDLE_MS, wholeMs: config.ANSWER_WHOLE_MS };
    if (body instanceof Page) return sendPage(response, body, tenantId, { pageBytes, vault, pace });
    const json = Buffer.isBuffer(body) ? body : Buffer.from(textOf(body));
    return sendWhole(response, json, tenantId, { bufferedBytes: bodies.bufferedBytes, pace });
  }

  /** Comes behind all routes. */
  override setNotFoundHandler(): void {
    const refuse: RequestHandler = ({ path }, _, next) => {
      const allow = this.#methodsAt(path);
      if (allow.length > 0) return next(methodNotAllowed(allow));
      next(new Problem('not_found', { detail: noSuchPath(path, this.#paths()) }));
    };
    this.use(refuse);
  }

  #paths(): string[] {
    const { stack } = this.getInstance<Routed>().router;
    const paths = stack.flatMap(({ route }) => (route ? [route.path] : []));
    return [...new Set(paths)].filter((path) => !path.startsWith('/console'));
  }

  #methodsAt(path: string): string[] {
    const { stack } = this.getInstance<Routed>().router;
    const methods = stack
      .filter((layer) => layer.route && layer.match(path))
      .flatMap(({ route }) => Object.keys(route?.methods ?? {}))
      .flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    return [...new Set(methods)];
  }
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));
