// Other proxies, each as its users would set it up:
// node bench/peers/proxies.cjs NAME PORT ORIGIN [FILE OF THE AUTHORITY]
const { readFileSync } = require('node:fs');
const http = require('node:http');
const https = require('node:https');

const [, , name, port, origin, caFile] = process.argv;

const listen = (server) => server.listen(Number(port), '127.0.0.1');

function fail(res) {
  if (!res.headersSent) res.writeHead(502).end();
  else res.destroy();
}

function httpProxy(options) {
  const proxy = require('http-proxy').createProxyServer({ target: origin, ...options });
  proxy.on('error', (_error, _req, res) => fail(res));
  return (req, res) => proxy.web(req, res);
}

/** Buffers of the same size as those of the gateway and of undici. */
function keepAlive() {
  const options = {
    keepAlive: true,
    noDelay: true,
    highWaterMark: 64 * 1024,
    // It goes on with requests whose caller has left: with a limit all sockets would be taken in
    // the end.
    maxSockets: Infinity,
    maxFreeSockets: 1024,
  };
  if (!caFile) return { agent: new http.Agent(options) };
  return { agent: new https.Agent({ ...options, ca: readFileSync(caFile) }) };
}

/** The least code around undici's fastest call: no key, and no filter but that of the framing. */
function undiciDispatch() {
  const { Pool } = require('undici');
  const pool = new Pool(origin, { connections: 1024, pipelining: 1 });
  const framing = new Set(['connection', 'keep-alive', 'transfer-encoding', 'expect', 'upgrade']);
  return (req, res) => {
    const { method, url: path, rawHeaders } = req;
    const headers = [];
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (!framing.has(rawHeaders[i].toLowerCase())) headers.push(rawHeaders[i], rawHeaders[i + 1]);
    }
    const hasBody = Number(req.headers['content-length'] ?? 0) > 0;
    pool.dispatch({ method, path, headers, body: hasBody ? req : null }, relayTo(res));
  };
}

function relayTo(res) {
  return {
    onConnect(abort) {
      if (res.destroyed) return abort();
      res.once('close', () => res.writableFinished || abort());
    },
    onHeaders(status, raw, resume) {
      res.writeHead(
        status,
        raw.map((part) => part.latin1Slice()),
      );
      res.on('drain', resume);
      return true;
    },
    onData: (chunk) => res.write(chunk),
    onComplete: () => res.end(),
    onError: () => fail(res),
  };
}

async function nest() {
  require('reflect-metadata');
  const { Module } = require('@nestjs/common');
  const { NestFactory } = require('@nestjs/core');
  class Hosting {}
  Module({})(Hosting);
  const app = await NestFactory.create(Hosting, { logger: false, bodyParser: false });
  app.use(httpProxy({}));
  await app.listen(Number(port), '127.0.0.1');
}

async function fastify() {
  const app = require('fastify')({ bodyLimit: 10 * 1024 * 1024 });
  await app.register(require('@fastify/http-proxy'), {
    upstream: origin,
    undici: { connections: 1024, pipelining: 1 },
  });
  await app.listen({ port: Number(port), host: '127.0.0.1' });
}

const peers = {
  'http-proxy': () => listen(http.createServer(httpProxy({}))),
  'http-proxy + agent': () => listen(http.createServer(httpProxy(keepAlive()))),
  'http-proxy in Nest': nest,
  '@fastify/http-proxy': fastify,
  'undici dispatch': () => listen(http.createServer(undiciDispatch())),
};

void peers[name]();
