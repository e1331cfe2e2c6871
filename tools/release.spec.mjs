import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from './lib/release/artifacts.mjs';
import { shippedPackages } from './lib/release/licences.mjs';
import { repoRoot } from './lib/repo.mjs';
import { useFolder } from './lib/spec-folder.mjs';

const folder = useFolder();
const out = join(folder, 'release');
const git = (/** @type {string[]} */ ...args) =>
  execFileSync('git', args, { cwd: repoRoot, encoding: 'utf8' });
/** @param {string} name */
const read = (name) => JSON.parse(readFileSync(join(out, name), 'utf8'));

/** @type {string} */
let said;
/** @type {string} */
let before;
beforeAll(() => {
  before = git('status', '--porcelain');
  const args = [join(repoRoot, 'tools/release.mjs'), '99.0.0', '--dry-run', '--out', out];
  said = execFileSync(process.execPath, args, { encoding: 'utf8' });
});

it('a dry run says what it leaves out, and changes nothing in the repository', () => {
  for (const left of ['npm test', 'name 99.0.0 and commit', 'digest of node:', 'image of runner']) {
    expect(said).toMatch(new RegExp(`– ${left}.*: not in a dry run`));
  }
  expect(git('status', '--porcelain')).toBe(before);
  expect(git('tag', '--list', 'v99.0.0')).toBe('');
});

it('the lists of parts have every package that is shipped, with its version', () => {
  const listed = readdirSync(out)
    .filter((name) => name.endsWith('.cdx.json'))
    .flatMap((name) => read(name).components)
    .map(({ purl }) => decodeURIComponent(purl));
  const missing = shippedPackages().filter(
    ({ name, version }) => !listed.some((purl) => purl.startsWith(`pkg:npm/${name}@${version}`)),
  );
  expect(missing).toEqual([]);
  expect(read('licences.json')).toEqual(shippedPackages());
});

it('the checksums are those of the files, and leave none out', () => {
  const lines = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n');
  const named = lines.map((line) => line.split('  '));
  const files = readdirSync(out).filter((name) => name !== 'SHA256SUMS');
  expect(named.map(([, name]) => name).sort()).toEqual(files.sort());
  for (const [sum, name = ''] of named) expect(sum).toBe(sha256Of(join(out, name)));
});

it('the statement of provenance names files, commit and base, and no digest that nobody resolved', () => {
  const { _type, subject, predicateType, predicate } = read('provenance.json');
  expect([_type, predicateType]).toEqual([
    'https://in-toto.io/Statement/v1',
    'https://slsa.dev/provenance/v1',
  ]);
  expect(subject.length).toBeGreaterThan(7);
  for (const { name, digest } of subject) expect(digest.sha256).toBe(sha256Of(join(out, name)));
  const [sources, , base] = predicate.buildDefinition.resolvedDependencies;
  expect(sources.digest.gitCommit).toBe(git('rev-parse', 'HEAD').trim());
  expect(base).toEqual({ uri: expect.stringMatching(/^docker:node:24/) });
});

it('a version that is not above the newest release is refused', () => {
  const args = [join(repoRoot, 'tools/release.mjs'), '0.0.1', '--dry-run', '--out', out];
  expect(() => execFileSync(process.execPath, args, { stdio: 'pipe' })).toThrow('not above');
});
