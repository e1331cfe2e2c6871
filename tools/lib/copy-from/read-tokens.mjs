import { Trouble } from '../progress.mjs';
import { pagesOf, readPage } from './read-pages.mjs';

/**
 * @typedef {import('./api.mjs').Api} Api
 * @typedef {import('./api.mjs').Json} Json
 * @typedef {{ readonly priority: number, readonly container: string, readonly transform: string, readonly permissions: string[], readonly conditions?: unknown[] }} Rule
 * @typedef {{ readonly token: Json, readonly why?: string | undefined }} ReadToken with why it cannot be copied
 */

/**
 * All tokens that a key reads, page by page.
 *
 * @param {Api} from
 * @param {number} size
 * @param {boolean} keyReveals
 * @returns {AsyncGenerator<ReadToken[]>}
 */
export async function* readTokens(from, size, keyReveals) {
  const unseen = keyReveals ? () => undefined : await unseenBy(from);
  for await (const page of tokenPages(from, size)) {
    yield page.map((token) => ({ token, why: unseen(token) }));
  }
}

/**
 * By a cursor where the other API has one: pages by number move while tokens are deleted.
 *
 * @param {Api} from
 * @param {number} size
 */
async function* tokenPages(from, size) {
  const path = '/v2/tokens';
  let start;
  for (;;) {
    const answer = await from.get(path, { size: String(size), start });
    if (answer.status === 404 && start === undefined) return yield* pagesOf(from, '/tokens', size);
    const { data, pagination } = readPage(from, path, answer);
    yield data;
    const next = pagination.next ? String(pagination.next) : undefined;
    if (next === undefined) return;
    if (next === start) throw new Trouble(`${from.name} answers ${path} with one page twice.`);
    start = next;
  }
}

/**
 * A mask looks like a value. So what the key sees is known from its rules, and not from what it is shown.
 *
 * @param {Api} from
 */
async function unseenBy(from) {
  const { status, body } = await from.get('/applications/key');
  if (status !== 200) {
    throw new Trouble(
      `${from.name} does not tell what its key for tokens may see (${status} for /applications/key). ` +
        'Where you know that it sees whole values: --key-reveals',
    );
  }
  const rules = /** @type {Rule[]} */ (body.rules ?? []).filter(({ permissions = [] }) =>
    permissions.includes('token:read'),
  );
  /** @param {Json} token */
  return ({ containers }) => {
    const [container = '/general/high/'] = /** @type {string[]} */ (containers ?? []);
    const matching = rules
      .filter((one) => asFolder(container).startsWith(asFolder(one.container)))
      .sort((a, b) => a.priority - b.priority || b.container.length - a.container.length);
    // Only the other API knows which tokens fulfil them.
    const isConditional = matching.some(({ conditions }) => (conditions ?? []).length > 0);
    return matching[0]?.transform === 'reveal' && !isConditional
      ? undefined
      : 'the reading key does not see its whole value';
  };
}

/** @param {string} container */
const asFolder = (container) => `${container.replace(/\/+$/, '')}/`.toLowerCase();
