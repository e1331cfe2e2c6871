import { refusal } from './api.mjs';

const atATime = 8;
const urlCharactersMax = 8_000;
const members = [
  ...['id', 'type', 'data', 'mask', 'containers', 'metadata', 'search_indexes'],
  ...['fingerprint_expression', 'expires_at'],
];
const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * @typedef {import('./api.mjs').Api} Api
 * @typedef {import('./api.mjs').Json} Json
 * @typedef {import('./read-tokens.mjs').ReadToken} ReadToken
 */

/**
 * Makes tokens with the ids that they have there.
 *
 * @param {AsyncIterable<ReadToken[]>} pages
 * @param {Api} to
 * @param {import('./report.mjs').Report} report
 */
export async function copyTokens(pages, to, report) {
  for await (const page of pages) {
    const there = await idsHere(to, page);
    const waiting = page.values();
    const copyOnes = async () => {
      for (const { token, why } of waiting) {
        if (there.has(normal(token.id))) report.there('token');
        else if (why !== undefined) report.skipped('token', token.id, why);
        else await copyToken(token, to, report);
      }
    };
    await Promise.all(Array.from({ length: atATime }, copyOnes));
    report.progress();
  }
}

/**
 * @param {Json} token
 * @param {Api} to
 * @param {import('./report.mjs').Report} report
 */
async function copyToken(token, to, report) {
  const { id, data } = token;
  if (typeof id !== 'string') return report.skipped('token', id, 'it has no id');
  if (data === undefined || data === null) {
    return report.skipped('token', id, 'the reading key does not see its whole value');
  }
  const given = members.flatMap((member) =>
    token[member] === undefined || token[member] === null ? [] : [[member, token[member]]],
  );
  const answer = await to.post('/tokens', Object.fromEntries(given));
  if (answer.status === 201) report.copiedToken();
  else if (answer.status === 409) report.there('token');
  else report.skipped('token', id, refusal(answer));
}

/**
 * Which of them are here already. Nothing is lost where that cannot be asked: a second token of an id is refused.
 *
 * @param {Api} to
 * @param {readonly ReadToken[]} page
 * @returns {Promise<ReadonlySet<string>>}
 */
async function idsHere(to, page) {
  const ids = page.map(({ token }) => String(token.id));
  if (ids.join('&id=').length > urlCharactersMax) return new Set();
  const { status, body } = await to.get('/tokens', { id: ids, size: '100' });
  if (status !== 200) return new Set();
  return new Set(/** @type {Json[]} */ (body.data).map(({ id }) => normal(id)));
}

/** @param {unknown} id */
function normal(id) {
  const text = String(id);
  return isUuid.test(text) ? text.toLowerCase() : text;
}
