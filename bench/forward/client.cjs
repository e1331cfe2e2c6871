// The client of the bench: opens a tunnel, speaks TLS in it and sends one request, again and again. It waits for a
// line, works for a second, and prints how many answers it got in how many seconds.
const { once } = require('node:events');
const { readFileSync } = require('node:fs');
const http = require('node:http');
const { connect } = require('node:tls');

const { proxyUrl, host, authorization, caFile } = JSON.parse(process.argv[2] ?? '');
const atOnce = 8;
const warmUp = 5;
const turnMs = 1_000;
const ca = readFileSync(caFile);
const message = `GET /small HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

/** Opens a tunnel to the host, and speaks TLS in it. */
async function openTunnel() {
  const { hostname, port } = new URL(proxyUrl);
  const request = http.request({
    ...{ host: hostname, port, method: 'CONNECT', path: `${host}:443`, agent: false },
    headers: authorization ? { 'Proxy-Authorization': authorization } : {},
  });
  request.end();
  const [answer, socket] = await once(request, 'connect');
  if (answer.statusCode !== 200) throw new Error(`CONNECT: ${answer.statusCode}`);
  socket.setNoDelay();
  const tunnel = connect({ socket, servername: host, ca });
  await once(tunnel, 'secureConnect');
  return tunnel;
}

/**
 * Sends one request and waits for the whole of its answer.
 *
 * @param {import('node:tls').TLSSocket} socket
 */
function ask(socket) {
  return new Promise((resolve, reject) => {
    let text = '';
    const ended = () => reject(new Error(`the connection has ended after: ${text}`));
    socket.once('close', ended).on('data', (/** @type {Buffer} */ chunk) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      if (!text.startsWith('HTTP/1.1 200 ')) return reject(new Error(text));
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
      const isWhole = length >= 0 ? text.length >= head + 4 + length : text.endsWith('0\r\n\r\n');
      if (isWhole) resolve(undefined);
    });
    socket.write(message);
  });
}

/** @param {() => boolean} isOn */
async function work(isOn) {
  let answers = 0;
  while (isOn()) {
    const tunnel = await openTunnel();
    await ask(tunnel);
    tunnel.destroy();
    answers += 1;
  }
  return answers;
}

/** @param {() => () => boolean} limit */
const workers = (limit) => Promise.all(Array.from({ length: atOnce }, () => work(limit())));

async function main() {
  await workers(() => {
    let left = warmUp;
    return () => (left -= 1) >= 0;
  });
  console.log('ready');
  await once(process.stdin, 'data');
  const begun = performance.now();
  const counts = await workers(() => () => performance.now() - begun < turnMs);
  const seconds = (performance.now() - begun) / 1_000;
  console.log(`${counts.reduce((sum, count) => sum + count, 0)}\n${seconds}`);
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
