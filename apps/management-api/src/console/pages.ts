import { statSync } from 'node:fs';
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
 * Files are found in a list that is made once for each build: no path can lead out of the folder.
 */
export function servePages(folder: string): RequestListener {
  const filesOfNow = listedOnce(folder);
  return (request, response) => {
    setPageHeaders(response);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return refuse(response, 405, 'The page of the console is read by GET alone.');
    }
    const files = filesOfNow();
    if (!files) return refuse(response, 503, 'The page of the console is not built: npm run build');
    // sirv sends no valid answer to every range.
    delete request.headers.range;
    endWithAnswer(response);
    const path = pathOf(request);
    files(request, response, () => {
      if (isHashed(path)) return refuse(response, 404, 'There is no such file.');
      request.url = '/';
      files(request, response);
    });
  };
}

type Files = ReturnType<typeof sirv>;

/** Files that are being built may grow for so long after the folder has changed. */
const settledMs = 2_000;

/** Undefined until the page is built. While the next one is built, what is there of it is served. */
function listedOnce(folder: string): () => Files | undefined {
  let known: { readonly files: Files; readonly changedAt: number } | undefined;
  return () => {
    const changedAt = changeOf(folder);
    if (changedAt === undefined) return known?.files;
    if (known?.changedAt !== changedAt) {
      const files = listed(folder);
      if (Date.now() - changedAt < settledMs) return files;
      known = { files, changedAt };
    }
    return known.files;
  };
}

function changeOf(folder: string): number | undefined {
  const [page, assets] = ['index.html', 'assets'].map((name) =>
    statSync(join(folder, name), { throwIfNoEntry: false }),
  );
  return page && Math.max(page.mtimeMs, assets?.mtimeMs ?? 0);
}

const listed = (folder: string): Files =>
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
