import { readTokens } from './read-tokens.mjs';

const reveals = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] };
const masks = { ...reveals, priority: 2, transform: 'mask' };
const conditions = [{ attribute: 'id', operator: 'starts_with', value: 'a' }];

/**
 * Whether the value of a token in the container can be copied by a key with the rules.
 *
 * @param {readonly object[]} rules
 * @param {string} container
 */
async function isSeen(rules, container) {
  const answers = {
    '/applications/key': { rules },
    '/v2/tokens': { data: [{ id: 'a', containers: [container] }], pagination: { next: null } },
  };
  /** @param {keyof typeof answers} path */
  const get = async (path) => ({ status: 200, body: answers[path] });
  const from = /** @type {import('./api.mjs').Api} */ (
    /** @type {unknown} */ ({ name: 'the other API', get })
  );
  const pages = [];
  for await (const page of readTokens(from, 10, false)) pages.push(...page);
  expect(pages).toHaveLength(1);
  return pages[0]?.why === undefined;
}

it('a token is seen by the first rule that reads its container', async () => {
  expect(await isSeen([reveals, masks], '/pci/high/')).toBe(true);
  expect(
    await isSeen(
      [
        { ...masks, priority: 1 },
        { ...reveals, priority: 2 },
      ],
      '/pci/',
    ),
  ).toBe(false);
  expect(await isSeen([], '/pci/')).toBe(false);
});

it('a token is unseen if a rule that reads its container has conditions', async () => {
  expect(await isSeen([{ ...reveals, conditions }, masks], '/pci/')).toBe(false);
  expect(await isSeen([{ ...reveals, conditions }], '/pci/')).toBe(false);
  expect(await isSeen([{ ...masks, conditions }, reveals], '/pci/')).toBe(false);
  expect(await isSeen([{ ...reveals, conditions: [] }, masks], '/pci/')).toBe(true);
  const elsewhere = { ...masks, container: '/general/', conditions };
  expect(await isSeen([elsewhere, reveals], '/pci/')).toBe(true);
  const uses = { ...reveals, priority: 0, conditions, permissions: ['token:use'] };
  expect(await isSeen([uses, reveals], '/pci/')).toBe(true);
});

it('a container ends with its name, with or without a slash', async () => {
  for (const container of ['/pci', '/pci/']) {
    const rules = [{ ...reveals, container }];
    expect(await isSeen(rules, '/pci')).toBe(true);
    expect(await isSeen(rules, '/PCI/high/')).toBe(true);
    expect(await isSeen(rules, '/pci-other/')).toBe(false);
  }
});
