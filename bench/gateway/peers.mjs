import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/lib/ports.mjs';
import { loadLibraries } from '../lib/libraries.mjs';
import { findProgram, untilAnswers } from '../lib/programs.mjs';

/** @param {string} path */
const near = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Starts the destination of wrk's calls. Undefined without wrk or a C compiler.
 *
 * @param {Pick<import('../types.js').Setting, 'children' | 'folder'>} setting
 */
export async function startUpstream({ children, folder }) {
  if (!findProgram('wrk')) return undefined;
  const compiler = findProgram('cc') ?? findProgram('gcc');
  if (!compiler) {
    console.log('a C compiler is missing; loads need it: apt-get install gcc libc6-dev');
    return undefined;
  }
  const program = join(folder, 'upstream');
  execFileSync(compiler, ['-O2', '-o', program, near('upstream.c')]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(children.start(program, [String(port)]), url);
  return url;
}

export const peerNames = [
  'http-proxy + agent',
  'http-proxy',
  'http-proxy in Nest',
  'undici dispatch',
  '@fastify/http-proxy',
];

/**
 * Starts a peer; undefined when it is not installed.
 *
 * @param {import('../types.js').Setting} setting
 * @param {string} name
 * @param {string | undefined} destinationUrl
 * @param {string} caFile
 */
export async function startPeer({ children }, name, destinationUrl, caFile = '') {
  if (name.startsWith('@') && !existsSync(near(`../peers/node_modules/${name}`))) {
    console.log(`${name} is missing: npm ci --prefix bench/peers --ignore-scripts`);
    return undefined;
  }
  const port = await freePort();
  const args = [near('../peers/proxies.cjs'), name, String(port), destinationUrl ?? '', caFile];
  return answering(children.start(process.execPath, args), port);
}

/** @param {import('../types.js').Setting} setting */
export async function startNginx(setting) {
  const { host } = new URL(setting.upstreamUrl ?? '');
  return runNginx(setting, 'proxy', (port) => passing(port, host));
}

/**
 * Starts a destination over TLS, with a certificate of an authority of its own.
 *
 * @param {import('../types.js').Setting} setting
 * @returns {Promise<import('../types.js').TlsUpstream | undefined>}
 */
export async function startTlsUpstream(setting) {
  const { createAuthority } = await loadLibraries('authority', {
    './libs/testing/src/authority.ts': 'createAuthority',
  });
  const authority = createAuthority();
  const { cert, key } = authority.issue('IP:127.0.0.1');
  /** @param {string} name */
  const file = (name) => join(setting.folder, name);
  writeFileSync(file('tls.crt'), cert);
  writeFileSync(file('tls.key'), key, { mode: 0o600 });
  writeFileSync(file('tls-ca.crt'), authority.ca);
  const started = await runNginx(setting, 'tls', (port) => answeringOverTls(port, file));
  if (!started) return undefined;
  const url = started.url.replace('http:', 'https:');
  return { url, ca: authority.ca, caFile: file('tls-ca.crt') };
}

/**
 * @param {import('../types.js').Setting} setting
 * @param {string} name
 * @param {(port: number) => string} serverOn
 */
async function runNginx({ children, folder }, name, serverOn) {
  const program = findProgram('nginx');
  if (!program) return undefined;
  const port = await freePort();
  const own = join(folder, `nginx-${name}`);
  mkdirSync(own);
  writeFileSync(join(own, 'nginx.conf'), nginxConfig(own, serverOn(port)));
  const args = ['-p', own, '-c', join(own, 'nginx.conf'), '-e', join(own, 'error.log')];
  return answering(children.start(program, args), port);
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} port
 * @returns {Promise<import('../types.js').Site>}
 */
async function answering(child, port) {
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(child, url);
  return { pid: child.pid ?? 0, url };
}

/**
 * One worker on one core. Bodies stay in memory, and connections to both sides stay open.
 *
 * @param {string} folder
 * @param {string} server
 */
const nginxConfig = (folder, server) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  client_body_buffer_size 256k;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  ${server}
}
`;

/**
 * @param {number} port
 * @param {string} destination
 */
const passing = (port, destination) => `
  upstream destination {
    server ${destination};
    keepalive 256;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://destination;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_max_temp_file_size 0;
    }
  }`;

/**
 * Answers with as many bytes as the destination without TLS.
 *
 * @param {number} port
 * @param {(name: string) => string} file
 */
const answeringOverTls = (port, file) => `
  server {
    listen 127.0.0.1:${port} ssl backlog=4096;
    ssl_certificate ${file('tls.crt')};
    ssl_certificate_key ${file('tls.key')};
    keepalive_timeout 120s;
    default_type application/json;
    location / {
      return 200 '{"id":"7e0f6f2c-1b1d-4f0a-9d0e-0d4a6f4f9b11","status":"ok","amount":1234}';
    }
  }`;
