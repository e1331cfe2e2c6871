import { Trouble } from '../progress.mjs';

const definitionsMax = 10_000;

/**
 * @typedef {import('./api.mjs').Api} Api
 * @typedef {import('./api.mjs').Json} Json
 */

/**
 * A list of the other API, page by page.
 *
 * @param {Api} from
 * @param {string} path
 * @param {number} size
 * @returns {AsyncGenerator<Json[]>}
 */
export async function* pagesOf(from, path, size) {
  let first;
  for (let page = 1; ; page += 1) {
    const answer = await from.get(path, { page: String(page), size: String(size) });
    const { data, pagination } = readPage(from, path, answer);
    if (data.length === 0) return;
    // A list that never moves on would be read for ever.
    if (data[0]?.id === first)
      throw new Trouble(`${from.name} answers ${path} with one page twice.`);
    first = data[0]?.id;
    yield data;
    const last = Number(pagination.total_pages);
    if (Number.isInteger(last) ? page >= last : data.length < size) return;
  }
}

/**
 * @param {Api} from
 * @param {string} path
 * @returns {AsyncGenerator<Json>}
 */
export async function* definitionsOf(from, path) {
  let read = 0;
  for await (const page of pagesOf(from, path, 100)) {
    for (const resource of page) {
      read += 1;
      if (read > definitionsMax) throw new Trouble(`${path} has more than ${definitionsMax}.`);
      yield resource;
    }
  }
}

/**
 * @param {Api} from
 * @param {string} path
 * @param {import('./api.mjs').Answer} answer
 */
export function readPage(from, path, { status, body }) {
  if (status === 403) throw new Trouble(`${from.name}: the key may not read ${path}.`);
  if (status !== 200 || !Array.isArray(body.data)) {
    throw new Trouble(`${from.name} answers ${path} with ${status}, and without a list.`);
  }
  const data = /** @type {Json[]} */ (body.data);
  return { data, pagination: /** @type {Json} */ (body.pagination ?? {}) };
}
