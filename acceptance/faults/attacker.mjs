// The parts of the attacks of a hostile tenant: its calls, its resources, its rates.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export const { baseUrl, forwardUrl, adminKey, privateKey } = JSON.parse(
  process.env.ATTACKED ?? '{}',
);
export const agent = new http.Agent({ keepAlive: true });
/** @type {Record<string, number>} */
export const answered = {};
/** The attack ends with the standard input of the program. */
export const attack = { isOver: false };
process.stdin.on('end', () => (attack.isOver = true)).resume();

/** @param {string | number} status */
export function note(status) {
  answered[status] = (answered[status] ?? 0) + 1;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{ key?: string, headers?: Record<string, string>, body?: unknown }} options
 */
export async function call(method, path, { key = privateKey, headers = {}, body } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = http.request(`${baseUrl}${path}`, {
    method,
    agent,
    headers: {
      'svc-api-key': key,
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }),
      ...headers,
    },
  });
  try {
    request.end(text);
    const [answer] = await once(request, 'response');
    const chunks = [];
    for await (const chunk of answer) chunks.push(chunk);
    note(answer.statusCode);
    return { status: answer.statusCode, text: Buffer.concat(chunks).toString() };
  } catch (error) {
    note(/** @type {NodeJS.ErrnoException} */ (error).code ?? 'error');
    return { status: 0, text: '' };
  }
}

/**
 * @param {string} path
 * @param {unknown} body
 * @param {string} key
 */
export async function created(path, body, key = adminKey) {
  const { status, text } = await call('POST', path, { key, body });
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/**
 * @param {string} code
 * @param {object} extra
 */
export async function reactorOf(code, extra = {}) {
  const name = `attack ${randomUUID()}`;
  const formula = await created('/reactor-formulas', { type: 'private', name, code });
  const reactor = { name, configuration: {}, formula: { id: formula.id }, ...extra };
  return (await created('/reactors', reactor)).id;
}

/** @param {readonly string[]} permissions */
export async function applicationOf(permissions) {
  const body = { name: `attack ${randomUUID()}`, type: 'private', permissions };
  return (await created('/applications', body)).id;
}

/**
 * @param {string} id
 * @param {unknown} body
 */
export const react = (id, body) => call('POST', `/reactors/${id}/react`, { body });

/** @param {string} url */
export async function proxyTo(url) {
  return (await created('/proxies', { name: 'attack', destination_url: url })).key;
}

/**
 * Repeats the work, with this many at a time.
 *
 * @param {number} count
 * @param {() => Promise<unknown>} work
 */
export async function inParallel(count, work) {
  const one = async () => {
    while (!attack.isOver) {
      await work();
      // Lets others have the thread even if every call fails at once.
      await delay(1);
    }
  };
  begun();
  await Promise.all(Array.from({ length: count }, one));
}

/**
 * Starts the work at this rate per second, without waiting for earlier calls.
 *
 * @param {number} rate
 * @param {() => Promise<unknown>} work
 */
export async function perSecond(rate, work) {
  begun();
  while (!attack.isOver) {
    void work();
    await delay(1_000 / rate);
  }
}

/**
 * Lets a proxy handle every host below this one in forward mode.
 *
 * @param {string} domain
 */
export async function takeHostsBelow(domain) {
  await call('GET', '/tenants/self/forward-ca', { key: adminKey });
  await created('/proxies', {
    name: 'attack',
    destination_url: await server((_, res) => res.end()),
    match: { hosts: [`*.${domain}`] },
  });
}

/**
 * Asks for a tunnel to a host. Undefined where there is none.
 *
 * @param {string} host
 */
export async function tunnelTo(host) {
  const { hostname, port } = new URL(forwardUrl);
  const socket = net.connect(Number(port), hostname).setNoDelay();
  socket.on('error', () => undefined);
  const authority = `${host}:443`;
  socket.write(
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Authorization: Bearer ${privateKey}\r\n\r\n`,
  );
  const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(
    () => [],
  );
  const status = answer instanceof Buffer ? answer.toString('latin1', 9, 12) : 'closed';
  note(status);
  if (status === '200') return socket;
  socket.destroy();
  return undefined;
}

/** @param {http.RequestListener} handler */
export async function server(handler) {
  const listening = http.createServer(handler).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (listening.address());
  return `http://127.0.0.1:${port}`;
}

export const hangs = () => undefined;

/**
 * @param {readonly unknown[]} values
 * @returns {Promise<string[]>}
 */
export const tokensOf = (values) =>
  Promise.all(values.map((data) => created('/tokens', { type: 'token', data }, privateKey))).then(
    (tokens) => tokens.map(({ id }) => id),
  );

/** Tells that the attack is under way. */
export function begun() {
  process.stdout.write('attacking\n');
}
