import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble } from '../progress.mjs';

/**
 * The changelog with a heading for the version, and an empty one for what comes next.
 *
 * @param {string} text
 * @param {string} version
 * @param {string} date
 */
export function nameInChangelog(text, version, date) {
  const heading = '## [Unreleased]\n';
  const [before, after] = text.split(heading);
  if (before === undefined || after === undefined) {
    throw new Trouble('CHANGELOG.md has no [Unreleased].');
  }
  if (text.includes(`## [${version}]`)) throw new Trouble(`CHANGELOG.md has ${version} already.`);
  const [own = ''] = after.split(/^## /m);
  if (own.trim() === '') throw new Trouble('CHANGELOG.md says nothing of what is new.');
  return `${before}${heading}\n## [${version}] - ${date}\n${after}`;
}

/**
 * Refuses what is no version, and what is not above the newest release.
 *
 * @param {string} version
 * @param {string | undefined} newest
 */
export function requireNewer(version, newest) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Trouble(`"${version}" is no version such as 1.2.3.`);
  }
  if (newest === undefined) return;
  const [now, then] = [version, newest].map((text) => text.split('.').map(Number));
  const at = now?.findIndex((part, index) => part !== then?.[index]) ?? -1;
  if (at < 0 || (now?.[at] ?? 0) < (then?.[at] ?? 0)) {
    throw new Trouble(`${version} is not above ${newest}, the newest release.`);
  }
}

/**
 * Releases by version and commit, the newest last: what test:skew builds.
 *
 * @param {string} root
 * @returns {{ version: string, commit: string }[]}
 */
export const releasesOf = (root) => JSON.parse(readFileSync(releasesFile(root), 'utf8'));

/**
 * @param {string} root
 * @param {{ version: string, commit: string }} release
 */
export function addRelease(root, release) {
  const lines = [...releasesOf(root), release].map((one) => {
    return `  { "version": "${one.version}", "commit": "${one.commit}" }`;
  });
  writeFileSync(releasesFile(root), `[\n${lines.join(',\n')}\n]\n`);
}

/** @param {string} root */
const releasesFile = (root) => join(root, 'tools', 'releases.json');

/**
 * The transformers of kustomize that name each image by its digest.
 *
 * @param {string} registry
 * @param {Readonly<Record<string, string>>} digests
 */
export const imagesFile = (registry, digests) =>
  `# The images of a release, written by the release script.\n${Object.entries(digests)
    .map(([app, digest]) =>
      [
        'apiVersion: builtin',
        'kind: ImageTagTransformer',
        `metadata: { name: ${app} }`,
        'imageTag:',
        `  name: glovebox-${app}`,
        `  newName: ${registry}/glovebox-${app}`,
        `  digest: ${digest}`,
      ].join('\n'),
    )
    .join('\n---\n')}\n`;
