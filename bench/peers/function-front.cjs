// A function service without isolation: a front of node:http hands each call to one plain Node
// process that runs the code. node bench/peers/function-front.cjs PORT http|ipc
const { fork } = require('node:child_process');
const http = require('node:http');

const [, , portOrRole, transport] = process.argv;

/** The code of the reactor that it is compared with. */
const code = async ({ args }) => ({ raw: { sum: args.a + args.b } });

function read(message, then) {
  const chunks = [];
  message.on('data', (chunk) => chunks.push(chunk));
  message.on('end', () => then(Buffer.concat(chunks)));
}

function answer(res, text) {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  };
  res.writeHead(200, headers).end(text);
}

function frontOverHttp(child) {
  const agent = new http.Agent({ keepAlive: true, noDelay: true });
  const port = new Promise((resolve) => child.once('message', resolve));
  return async (req, res) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': req.headers['content-length'],
    };
    const options = { port: await port, host: '127.0.0.1', method: 'POST', agent, headers };
    const onward = http.request(options, (back) => read(back, (body) => answer(res, body)));
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  };
}

function frontOverIpc(child) {
  const waiting = new Map();
  let last = 0;
  child.on('message', ({ id, result }) => {
    answer(waiting.get(id), JSON.stringify(result));
    waiting.delete(id);
  });
  return (req, res) =>
    read(req, (body) => {
      last += 1;
      waiting.set(last, res);
      child.send({ id: last, call: JSON.parse(body) });
    });
}

async function runOverHttp() {
  const server = http.createServer((req, res) =>
    read(req, async (body) => answer(res, JSON.stringify(await code(JSON.parse(body))))),
  );
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}

function runOverIpc() {
  process.on('message', async ({ id, call }) => process.send({ id, result: await code(call) }));
}

const fronts = { http: frontOverHttp, ipc: frontOverIpc };
const children = { http: runOverHttp, ipc: runOverIpc };

if (portOrRole === 'child') {
  process.on('disconnect', () => process.exit());
  void children[transport]();
} else {
  const child = fork(__filename, ['child', transport]);
  const serve = fronts[transport](child);
  const server = http.createServer((req, res) =>
    req.method === 'GET' ? answer(res, '{}') : serve(req, res),
  );
  server.listen(Number(portOrRole), '127.0.0.1');
}
