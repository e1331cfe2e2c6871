import { spawn } from 'node:child_process';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Serves the repositories in a folder to whoever has the password: a CGI of Git itself. */
export function gitServer(folder: string, password: string): RequestListener {
  const authorization = `Basic ${Buffer.from(`agent:${password}`).toString('base64')}`;
  return (request, response) => {
    if (request.headers.authorization === authorization) return serve(folder, request, response);
    request.resume();
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  };
}

function serve(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '', 'https://git.example');
  const { headers } = request;
  const backend = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH,
      ...{ GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1', REMOTE_USER: 'agent' },
      ...{ REQUEST_METHOD: request.method, PATH_INFO: pathname, QUERY_STRING: search.slice(1) },
      ...{ CONTENT_TYPE: headers['content-type'], CONTENT_LENGTH: headers['content-length'] },
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      GIT_PROTOCOL: headers['git-protocol']?.toString(),
    },
  });
  backend.stdin.on('error', () => undefined);
  request.pipe(backend.stdin);
  const parts: Buffer[] = [];
  backend.stdout.on('data', (part: Buffer) => parts.push(part));
  backend.once('close', () => answer(Buffer.concat(parts), response));
}

/** Reads what a CGI says (RFC 3875, 6). */
function answer(said: Buffer, response: ServerResponse): void {
  const end = said.indexOf('\r\n\r\n');
  for (const line of said.toString('latin1', 0, end).split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]*): *(.*)$/.exec(line) ?? [];
    if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.end(said.subarray(end + 4));
}
