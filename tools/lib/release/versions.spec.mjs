import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useFolder } from '../spec-folder.mjs';
import { addRelease, imagesFile, nameInChangelog, releasesOf, requireNewer } from './versions.mjs';

const folder = useFolder();

it('a release gets its heading in the changelog, and what comes next an empty one', () => {
  const before =
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Moons.\n\n## [0.1.0] - 2026-01-01\n';
  expect(nameInChangelog(before, '0.2.0', '2026-02-03')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n### Added\n\n- Moons.\n\n## [0.1.0] - 2026-01-01\n',
  );
});

it.each([
  ['without [Unreleased]', '# Changelog\n'],
  ['that says nothing of what is new', '## [Unreleased]\n\n## [0.1.0]\n\n- Moons.\n'],
  ['that has the version already', '## [Unreleased]\n\n- Stars.\n\n## [0.2.0]\n'],
])('a changelog %s is refused', (_, text) => {
  expect(() => nameInChangelog(text, '0.2.0', '2026-02-03')).toThrow('CHANGELOG.md');
});

it.each([
  ['0.2.0', '0.1.9', true],
  ['1.0.0', '0.9.9', true],
  ['0.10.0', '0.9.0', true],
  ['0.1.0', '0.1.0', false],
  ['0.1.9', '0.2.0', false],
  ['v0.3.0', '0.2.0', false],
  ['0.3', '0.2.0', false],
])('%s after %s is a release: %s', (version, newest, expected) => {
  const required = () => requireNewer(version, newest);
  if (expected) required();
  else expect(required).toThrow(version);
});

it('a release is added behind the others', () => {
  const root = join(folder, 'added');
  mkdirSync(join(root, 'tools'), { recursive: true });
  const first = { version: '0.1.0', commit: 'a'.repeat(40) };
  writeFileSync(join(root, 'tools', 'releases.json'), JSON.stringify([first]));
  const second = { version: '0.2.0', commit: 'b'.repeat(40) };
  addRelease(root, second);
  expect(releasesOf(root)).toEqual([first, second]);
});

it('images are named by their digests', () => {
  const written = imagesFile('registry.example.com', { gateway: 'sha256:aa', worker: 'sha256:bb' });
  expect(written.match(/newName: .*|digest: .*/g)).toEqual([
    'newName: registry.example.com/glovebox-gateway',
    'digest: sha256:aa',
    'newName: registry.example.com/glovebox-worker',
    'digest: sha256:bb',
  ]);
});
