import { createServer, type RequestListener } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Response } from 'express';
import { lingerBehindAnswers } from '@glovebox/wire';
import type { ManagementContext } from '../context';
import { Page } from '../lists/page';
import { sendPage } from '../lists/send-page';
import { actorOf, type ApiRequest } from './request';
import { sendWhole } from './send-whole';

/** More than the gateway takes from its callers, because it adds headers to theirs. */
const headBytesMax = 64 * 1024;

export class HttpAdapter extends ExpressAdapter {
  constructor(private readonly ctx: ManagementContext) {
    super();
  }

  /** Node itself refuses a head above 16 KiB, and says nothing to it. */
  override initHttpServer(): void {
    const listener = this.getInstance<RequestListener>();
    const server = createServer({ maxHeaderSize: headBytesMax }, listener);
    lingerBehindAnswers(server);
    this.setHttpServer(server);
  }

  /** Sends what a handler returned: a page, a document, or text that is JSON already. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (status !== undefined) response.status(status);
    if (body === undefined) return response.send();
    const { tenantId } = actorOf(response.req as ApiRequest).principal;
    const { config, pageBytes, vault, bodies } = this.ctx;
    const pace = { idleMs: config.ANSWER_IDLE_MS, wholeMs: config.ANSWER_WHOLE_MS };
    if (body instanceof Page) return sendPage(response, body, tenantId, { pageBytes, vault, pace });
    const json = typeof body === 'string' ? body : JSON.stringify(body);
    return sendWhole(response, json, tenantId, { bufferedBytes: bodies.bufferedBytes, pace });
  }
}
