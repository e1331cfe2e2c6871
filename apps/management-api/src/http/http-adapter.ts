import { createServer, type RequestListener } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import { lingerBehindAnswers } from '@glovebox/wire';

/** More than the gateway takes from its callers, because it adds headers to theirs. */
const headBytesMax = 64 * 1024;

/** Node itself refuses a head above 16 KiB, and says nothing to it. */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const listener = this.getInstance<RequestListener>();
    const server = createServer({ maxHeaderSize: headBytesMax }, listener);
    lingerBehindAnswers(server);
    this.setHttpServer(server);
  }
}
