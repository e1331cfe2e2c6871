// A third party on this machine, for the tour: node tools/demo-destination.mjs PORT
import { createServer } from 'node:http';

const bodyBytesMax = 1024 * 1024;
const deliveriesKept = 20;
const namesKept = 100;
const hooks = new Map();

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://demo');
  const [, area, name] = pathname.split('/');
  const received = await receive(request);
  if (received === undefined) return answer(response, 413, { error: 'too large' });
  if (area === 'echo') return answer(response, 200, received);
  if (area === 'hooks' && name && request.method === 'POST') {
    keep(name, received);
    return answer(response, 200, { stored: true });
  }
  if (area === 'hooks' && name) return answer(response, 200, hooks.get(name) ?? []);
  return answer(response, 404, { error: 'try /echo or /hooks/NAME' });
});

async function receive(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  }
  if (bytes > bodyBytesMax) return undefined;
  const text = Buffer.concat(chunks).toString('utf8');
  return {
    method: request.method,
    path: request.url,
    headers: request.headers,
    body: parsed(text),
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function keep(name, delivery) {
  const deliveries = [...(hooks.get(name) ?? []), delivery].slice(-deliveriesKept);
  hooks.delete(name);
  hooks.set(name, deliveries);
  if (hooks.size > namesKept) hooks.delete(hooks.keys().next().value);
}

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body, null, 2)}\n`);
}

server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
process.on('SIGINT', () => process.exit(0));
