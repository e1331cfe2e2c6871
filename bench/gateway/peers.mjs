import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/lib/ports.mjs';
import { findProgram, untilAnswers } from '../lib/programs.mjs';

const near = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The destination: small, so that the proxies are what is measured. Undefined without a compiler. */
export async function startUpstream({ children, folder }) {
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

/** Each peer by name, with its process and URL; those that cannot run are missing. */
export async function startPeers({ children, folder, upstreamUrl }) {
  const peers = {};
  const names = ['http-proxy + agent', 'http-proxy', 'http-proxy in Nest', 'undici dispatch'];
  if (existsSync(near('../peers/node_modules/@fastify/http-proxy'))) {
    names.push('@fastify/http-proxy');
  } else {
    console.log('@fastify/http-proxy is missing: npm ci --prefix bench/peers --ignore-scripts');
  }
  for (const name of names) {
    const port = await freePort();
    const args = [near('../peers/proxies.cjs'), name, String(port), upstreamUrl];
    peers[name] = await answering(children.start(process.execPath, args), port);
  }
  const nginx = findProgram('nginx');
  if (nginx) peers.nginx = await startNginx(nginx, { children, folder, upstreamUrl });
  return peers;
}

async function startNginx(program, { children, folder, upstreamUrl }) {
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(config, nginxConfig({ folder, port, upstream: new URL(upstreamUrl).host }));
  const errors = join(folder, 'nginx.log');
  const child = children.start(program, ['-p', folder, '-c', config, '-e', errors]);
  return answering(child, port);
}

async function answering(child, port) {
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(child, url);
  return { pid: child.pid, url };
}

/** One worker on one core; bodies stay in memory, connections to both sides stay open. */
const nginxConfig = ({ folder, port, upstream }) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  client_body_buffer_size 256k;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  upstream destination {
    server ${upstream};
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
  }
}
`;
