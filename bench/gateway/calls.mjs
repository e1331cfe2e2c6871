import { request } from 'node:http';

/**
 * Begins a call on a new connection or on one of the agent. Errors show in `answered` alone.
 *
 * @param {string} url
 * @param {{
 *   method?: string,
 *   headers?: import('../types.js').Headers,
 *   contentLength?: number,
 *   body?: string,
 *   agent?: import('node:http').Agent | false,
 * }} options
 */
export function beginCall(url, options = {}) {
  const { method = 'GET', headers = {}, contentLength, body, agent = false } = options;
  const framing = contentLength === undefined ? {} : { 'Content-Length': String(contentLength) };
  const req = request(url, { method, agent, headers: { ...headers, ...framing } });
  /** @type {Promise<import('node:http').IncomingMessage>} */
  const answered = new Promise((resolve, reject) => {
    req.once('response', resolve);
    req.once('error', reject);
  });
  answered.catch(() => undefined);
  if (contentLength === undefined) req.end();
  else if (body) req.write(body);
  return { req, answered };
}

/**
 * Reads an answer to its end and returns its status.
 *
 * @param {{ answered: Promise<import('node:http').IncomingMessage> }} call
 */
export async function statusOf({ answered }) {
  const res = await answered;
  for await (const chunk of res) void chunk;
  return res.statusCode;
}
