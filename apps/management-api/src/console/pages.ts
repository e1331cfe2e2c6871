import { existsSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import sirv from 'sirv';
import { setSecurityHeaders } from '../http/security-headers';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** Files with the hash of their content in their names. */
const isHashed = (path: string): boolean => path.startsWith('/assets/');

/**
 * Serves the built page. A path that is no file is one of the page's own, and gets the page itself.
 * Files are found in a list that is made once: no path can lead out of the folder.
 */
export function servePages(folder: string): RequestListener {
  let files: ReturnType<typeof sirv> | undefined;
  return (request, response) => {
    setPageHeaders(response);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return refuse(response, 405, 'The page of the console is read by GET alone.');
    }
    if (!files && existsSync(join(folder, 'index.html'))) files = listed(folder);
    if (!files) return refuse(response, 503, 'The page of the console is not built: npm run build');
    // sirv sends no valid answer to every range.
    delete request.headers.range;
    endWithAnswer(response);
    const path = pathOf(request);
    files(request, response, () => {
      if (isHashed(path)) return refuse(response, 404, 'There is no such file.');
      request.url = '/';
      files?.(request, response);
    });
  };
}

const listed = (folder: string): ReturnType<typeof sirv> =>
  sirv(folder, {
    brotli: true,
    gzip: true,
    setHeaders: (response, path) => {
      const isKept = isHashed(path);
      response.setHeader(
        'cache-control',
        isKept ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    },
  });

function setPageHeaders(response: ServerResponse): void {
  setSecurityHeaders(response);
  response.setHeader('content-security-policy', policy);
}

/** sirv leaves a file open whose reader has gone, and an error of the file without a listener. */
function endWithAnswer(response: ServerResponse): void {
  response.once('pipe', (file: Readable) => {
    file.once('error', () => response.destroy());
    response.once('close', () => file.destroy());
  });
}

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}
