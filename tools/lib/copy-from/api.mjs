import { setTimeout as sleep } from 'node:timers/promises';
import { Trouble } from '../progress.mjs';
import { readExactly, writeExactly } from './exact-json.mjs';

const triesMax = 8;
const timeoutMs = 60_000;
const waitMsMax = 60_000;
const answerBytesMax = 64 * 1024 * 1024;

/** @typedef {Readonly<Record<string, unknown>>} Json */
/** @typedef {{ readonly status: number, readonly body: Json }} Answer */

/** Calls of one key. A busy or absent server is asked again, for some minutes. */
export class Api {
  /**
   * @param {string} name in the words of messages
   * @param {string} url
   * @param {string} header
   * @param {string | undefined} key
   */
  constructor(name, url, header, key) {
    this.name = name;
    this.url = url;
    this.header = header;
    this.key = key ?? '';
  }

  /**
   * @param {string} path
   * @param {Readonly<Record<string, string | readonly string[] | undefined>>} [query]
   */
  get(path, query = {}) {
    const pairs = Object.entries(query).flatMap(([name, value]) =>
      [value ?? []].flat().map((one) => /** @type {[string, string]} */ ([name, one])),
    );
    const search = new URLSearchParams(pairs).toString();
    return this.#call('GET', search === '' ? path : `${path}?${search}`);
  }

  /**
   * A POST that may have been carried out is repeated: what it creates has a name of its own, so it is created once.
   *
   * @param {string} path
   * @param {Json} body
   */
  post(path, body) {
    return this.#call('POST', path, writeExactly(body));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {string} [body]
   * @returns {Promise<Answer>}
   */
  async #call(method, path, body) {
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const headers = { ...type, [this.header]: this.key };
    for (let tries = 1; ; tries += 1) {
      const signal = AbortSignal.timeout(timeoutMs);
      // No redirect: the key would follow it.
      const init = { method, headers, signal, redirect: /** @type {const} */ ('error') };
      const answered = await fetch(this.url + path, body === undefined ? init : { ...init, body })
        .then(async (answer) => ({ answer, text: await textOf(answer) }))
        .catch((error) => {
          if (error instanceof Trouble) throw new Trouble(`${this.name}: ${error.message}`);
        });
      const status = answered?.answer.status;
      if (answered && status !== 429 && (status ?? 0) < 500) {
        return this.#answerOf(answered.answer.status, answered.text, path);
      }
      if (tries === triesMax) throw this.#away(status);
      await sleep(waitMsOf(answered?.answer, tries));
    }
  }

  /**
   * @param {number} status
   * @param {string} text
   * @param {string} path
   * @returns {Answer}
   */
  #answerOf(status, text, path) {
    if (status === 401) throw new Trouble(`${this.name} does not know the key.`);
    try {
      return { status, body: /** @type {Json} */ (text === '' ? {} : readExactly(text)) };
    } catch {
      if (status >= 400) return { status, body: {} };
      throw new Trouble(`${this.name} answers ${path.split('?')[0]} without JSON.`);
    }
  }

  /** @param {number | undefined} status */
  #away(status) {
    const how = status === undefined ? 'does not answer' : `answers ${status}`;
    return new Trouble(`${this.name} ${how}. Run it again to go on: what is copied stays.`);
  }
}

/** @param {Response} answer */
async function textOf(answer) {
  const parts = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.length;
    if (bytes > answerBytesMax) {
      throw new Trouble('an answer is larger than 64 MiB. Take fewer at a time: --page-size');
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * @param {Response | undefined} answer
 * @param {number} tries
 */
function waitMsOf(answer, tries) {
  const asked = Number(answer?.headers.get('retry-after') ?? Number.NaN) * 1_000;
  const waitMs = asked >= 0 ? asked : 250 * 2 ** tries;
  return Math.min(waitMs, waitMsMax) + Math.random() * 100;
}

/**
 * Why Glovebox refused it, in its words. It never repeats values.
 *
 * @param {Answer} answer
 */
export function refusal({ status, body }) {
  const errors = /** @type {Record<string, string[]>} */ (body.errors ?? {});
  const texts = Object.entries(errors).map(([at, said]) => `${at} ${[said].flat().join(', ')}`);
  if (texts.length > 0) return texts.join('; ');
  return String(body.detail ?? body.title ?? `Glovebox answers ${status}`);
}
