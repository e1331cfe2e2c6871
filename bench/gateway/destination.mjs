import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

const blockBytes = 64 * 1024;
const pauseMs = 1_000;

/**
 * A destination inside the bench, for measurements other than speed. /hang, /hang/begun and
 * /hang/reading wait for `release`; /down/BYTES and /up stream after a second, so that the proxy
 * must hold back.
 */
export class Destination {
  #server = createServer((req, res) => void this.#answer(req, res));
  /**
   * The answers of calls that hang now.
   *
   * @type {Set<ServerResponse>}
   */
  #waiting = new Set();
  /**
   * The times at which the proxy gave up hanging calls.
   *
   * @type {number[]}
   */
  givenUpAt = [];

  url = '';

  async listen() {
    this.#server.listen(0, '127.0.0.1', 4_096);
    await once(this.#server, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    this.url = `http://127.0.0.1:${port}`;
  }

  get waiting() {
    return this.#waiting.size;
  }

  release() {
    for (const res of this.#waiting) res.end();
  }

  async close() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /**
   * @param {IncomingMessage} req
   * @param {ServerResponse} res
   */
  async #answer(req, res) {
    const [, what, detail] = (req.url ?? '').split('/');
    if (what === 'hang') return this.#hang(req, res, detail);
    if (what === 'down') return streamDown(res, Number(detail));
    if (what === 'up') return countUp(req, res);
    req.resume();
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({ path: req.url }));
  }

  /**
   * @param {IncomingMessage} req
   * @param {ServerResponse} res
   * @param {string | undefined} detail
   */
  #hang(req, res, detail) {
    this.#waiting.add(res);
    res.once('close', () => {
      this.#waiting.delete(res);
      if (!res.writableFinished) this.givenUpAt.push(performance.now());
    });
    req.on('error', () => undefined);
    if (detail === 'begun') res.write('x');
    if (detail === 'reading') req.resume();
  }
}

/**
 * @param {ServerResponse} res
 * @param {number} bytes
 */
async function streamDown(res, bytes) {
  res.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': String(bytes),
  });
  await pipeline(Readable.from(blocks(bytes), { objectMode: false }), res);
}

/** @param {number} bytes */
function* blocks(bytes) {
  const block = Buffer.alloc(blockBytes, 'x');
  for (let left = bytes; left > 0; left -= blockBytes) yield block.subarray(0, left);
}

/**
 * @param {IncomingMessage} req
 * @param {ServerResponse} res
 */
async function countUp(req, res) {
  await sleep(pauseMs);
  let bytes = 0;
  for await (const chunk of req) bytes += chunk.length;
  res.end(JSON.stringify({ bytes }));
}
