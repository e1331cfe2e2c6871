// Answers over TLS in a process of its own: it gets the certificate as a message, and says its port.
const { createServer } = require('node:https');

process.on('message', (/** @type {import('node:https').ServerOptions} */ certificate) => {
  const server = createServer(certificate, (_req, res) => res.end('{}'));
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
});
