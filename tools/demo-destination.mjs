// Third parties for the tour and the examples: node tools/demo-destination.mjs PORT
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';

/**
 * @typedef {import('node:http').ServerResponse} ServerResponse
 * @typedef {{
 *   method: string | undefined,
 *   path: string | undefined,
 *   headers: import('node:http').IncomingHttpHeaders,
 *   body: any,
 * }} Received
 */

const bodyBytesMax = 1024 * 1024;
const deliveriesKept = 20;
const waitMs = 10_000;
const namesKept = 100;
/** @type {Map<string, Received[]>} */
const hooks = new Map();
const arrivals = new EventEmitter().setMaxListeners(0);

const server = createServer((request, response) => {
  // A caller that leaves in the middle of its upload gets no answer.
  respond(request, response).catch(() => response.destroy());
});

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {ServerResponse} response
 */
async function respond(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://demo');
  const [, area, name] = pathname.split('/');
  const received = await receive(request);
  if (received === undefined) return answer(response, 413, { error: 'too large' });
  if (area === 'echo') return answer(response, 200, received);
  if (area === 'hooks' && name && request.method === 'POST') {
    keep(name, received);
    return answer(response, 200, { stored: true });
  }
  if (area === 'hooks' && name) {
    if (searchParams.has('wait') && !hooks.has(name)) await nextDelivery(name);
    return answer(response, 200, hooks.get(name) ?? []);
  }
  if (area === 'charges' && request.method === 'POST') return charge(response, received);
  if (area === 'customers' && name) return answer(response, 200, customer(name));
  return answer(response, 404, { error: 'try /echo or /hooks/NAME' });
}

/**
 * A payment provider: takes a form and a secret key, and returns the card that its caller must not
 * see.
 *
 * @param {ServerResponse} response
 * @param {Received} received
 */
function charge(response, { headers, body }) {
  if (headers.authorization !== 'Bearer sk_demo') return answer(response, 401, { error: 'key' });
  const form = new URLSearchParams(body);
  const number = form.get('card[number]');
  if (number === null) return answer(response, 400, { error: 'card' });
  if (number.endsWith('0002')) return answer(response, 402, { error: 'declined', number });
  const [amount, currency] = [Number(form.get('amount')), form.get('currency')];
  const id = `ch_${randomUUID()}`;
  return answer(response, 201, { id, status: 'paid', amount, currency, card: { number } });
}

/**
 * A partner whose answers contain cards.
 *
 * @param {string} id
 */
function customer(id) {
  const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
  return { id, name: 'Ada Lovelace', card };
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @returns {Promise<Received | undefined>}
 */
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

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * @param {string} name
 * @param {Received} delivery
 */
function keep(name, delivery) {
  const kept = [...(hooks.get(name) ?? []), delivery].slice(-deliveriesKept);
  hooks.delete(name);
  hooks.set(name, kept);
  const [oldest = ''] = hooks.keys();
  if (hooks.size > namesKept) hooks.delete(oldest);
  arrivals.emit(`hook ${name}`);
}

/**
 * Waits for the first delivery of the name, for a while.
 *
 * @param {string} name
 */
const nextDelivery = (name) =>
  once(arrivals, `hook ${name}`, { signal: AbortSignal.timeout(waitMs) }).catch(() => undefined);

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {unknown} body
 */
function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body, null, 2)}\n`);
}

server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
process.on('SIGINT', () => process.exit(0));
