// A proxy that ends TLS for every host and passes requests on to one destination in plain HTTP.
// start.cjs NAME PORT READY_PORT DESTINATION CA_FILE FOLDER
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const http = require('node:http');
const { join } = require('node:path');

const [name, port, readyPort, destination, caFile, folder] = process.argv.slice(2);

/** @type {Record<string, () => Promise<string>>} the certificate of the authority */
const starts = {
  async mockttp() {
    const { generateCACertificate, getLocal } = require('mockttp');
    const ca = await generateCACertificate();
    const server = getLocal({ https: ca, http2: false, recordTraffic: false });
    await server.forAnyRequest().thenForwardTo(destination);
    await server.start(Number(port));
    return ca.cert;
  },
  async 'http-mitm-proxy'() {
    const { Proxy } = require('http-mitm-proxy');
    mkdirSync(folder, { recursive: true });
    const proxy = new Proxy();
    const agent = new http.Agent({ keepAlive: true });
    const { hostname, port: toPort } = new URL(destination);
    proxy.onError((_, error) => console.error(error));
    proxy.onRequest((call, next) => {
      call.isSSL = false;
      Object.assign(call.proxyToServerRequestOptions, { host: hostname, port: toPort, agent });
      next();
    });
    await new Promise((resolve) =>
      proxy.listen({ host: '127.0.0.1', port: Number(port), sslCaDir: folder }, resolve),
    );
    return readFileSync(join(folder, 'certs', 'ca.pem'), 'utf8');
  },
};

void starts[name]().then((certificate) => {
  writeFileSync(caFile, certificate);
  http.createServer((_, res) => res.end()).listen(Number(readyPort), '127.0.0.1');
});
