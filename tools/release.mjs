// npm run release -- VERSION --registry REGISTRY [--dry-run]
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packPackages } from './lib/packages.mjs';
import { script, step, Trouble } from './lib/progress.mjs';
import { appNames, repoRoot } from './lib/repo.mjs';
import {
  must,
  writeChecksums,
  writeLicences,
  writeProvenance,
  writeSboms,
  writeSources,
} from './lib/release/artifacts.mjs';
import {
  addRelease,
  imagesFile,
  nameInChangelog,
  releasesOf,
  requireNewer,
} from './lib/release/versions.mjs';

const help = `
npm run release -- VERSION --registry REGISTRY [--dry-run] [--out FOLDER]

Makes a release from a clean checkout: names it in package.json, in CHANGELOG.md and in the manifests and commits that,
resolves the digest of the base image, builds and pushes the images for amd64 and arm64, writes lists of parts, licences,
sources, the packages for npm, a statement of provenance and checksums to dist/release, records commit and digests, and tags the commit. It
needs Docker with buildx, logged in to the registry. It does not push Git.

  --dry-run   says what would be done, and makes what needs neither Docker nor a network; changes nothing in the repository
  --out       another folder than dist/release`;

const platforms = 'linux/amd64,linux/arm64';

await script(help, async (args) => {
  const { version, registry, isDry, folder } = readOptions(args);
  const startedOn = new Date();
  const date = startedOn.toISOString().slice(0, 10);
  /**
   * @param {string} label
   * @param {() => Promise<unknown> | unknown} work
   */
  const online = (label, work) =>
    isDry ? console.log(`  – ${label}: not in a dry run`) : step(label, async () => work());

  requireNewer(version, releasesOf(repoRoot).at(-1)?.version);
  const changelog = nameInChangelog(read('CHANGELOG.md'), version, date);
  const isClean = (await must('git', ['status', '--porcelain'])) === '';
  if (!isClean && !isDry) throw new Trouble('The checkout has changes: commit or drop them.');
  await online('npm test', () => must('npm', ['test']));
  await online(`name ${version} and commit`, () => nameVersion(version, changelog));
  const commit = await must('git', ['rev-parse', 'HEAD']);

  /** @type {{ image: string, digest: string | undefined }} */
  const base = { image: baseImage(), digest: undefined };
  await online(`digest of ${base.image}`, async () => {
    base.digest = await digestOf(base.image);
    return base.digest;
  });
  /** @type {Record<string, string>} */
  const digests = {};
  for (const app of appNames) {
    await online(`image of ${app} for ${platforms}`, async () => {
      digests[app] = await buildImage(app, { version, registry, commit, base, folder });
      return digests[app];
    });
  }

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await step('lists of parts and licences', async () => {
    await writeSboms(folder, version);
    writeLicences(folder);
  });
  await step('sources', () => writeSources(folder, { version, commit }));
  await step('packages for npm', async () => void (await packPackages(folder)));
  await step('provenance and checksums', async () => {
    writeProvenance(folder, { version, commit, registry, startedOn, base, digests });
    writeChecksums(folder);
  });
  await online('record commit and digests, and tag', async () => {
    addRelease(repoRoot, { version, commit });
    write('k8s/overlays/production/images.yaml', imagesFile(registry, digests));
    await must('git', ['commit', '--all', '--message', `chore: record release ${version}`]);
    await must('git', ['tag', `v${version}`, commit]);
  });
  console.log(`\nIn ${folder}. ${isDry ? 'Nothing else was changed.' : nextSteps(version)}`);
});

/** @param {readonly string[]} args */
function readOptions(args) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      registry: { type: 'string' },
      out: { type: 'string', default: join(repoRoot, 'dist', 'release') },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  const [version, ...rest] = positionals;
  const isDry = values['dry-run'];
  if (version === undefined || rest.length > 0) throw new Trouble(help.trim());
  if (values.registry === undefined && !isDry) throw new Trouble('Which --registry?');
  const { registry = 'registry.example.com' } = values;
  return { version, registry, isDry, folder: resolve(values.out) };
}

/** @param {string} file */
function read(file) {
  return readFileSync(join(repoRoot, file), 'utf8');
}

/**
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  writeFileSync(join(repoRoot, file), text);
}

/** The base that the Dockerfile names by its version. */
function baseImage() {
  const [, image] = /^(?:ARG NODE_IMAGE=|FROM )(\S+)/m.exec(read('docker/Dockerfile')) ?? [];
  if (!image) throw new Trouble('docker/Dockerfile names no base image.');
  return image;
}

/**
 * @param {string} version
 * @param {string} changelog
 */
async function nameVersion(version, changelog) {
  await must('npm', ['version', version, '--no-git-tag-version', '--allow-same-version']);
  write('CHANGELOG.md', changelog);
  const named = await must('git', ['grep', '-l', 'newTag:', '--', 'k8s']);
  for (const file of named.split('\n')) {
    write(file, read(file).replace(/(newTag: )\d+\.\d+\.\d+/g, `$1${version}`));
  }
  const message = `chore: release ${version}`;
  await must('git', ['commit', '--all', '--allow-empty', '--message', message]);
}

/** @param {string} image */
async function digestOf(image) {
  const format = '{{.Manifest.Digest}}';
  const told = await must('docker', ['buildx', 'imagetools', 'inspect', image, '--format', format]);
  const [digest] = /sha256:[0-9a-f]{64}/.exec(told) ?? [];
  if (!digest) throw new Trouble(`The registry tells no digest of ${image}:\n${told}`);
  return digest;
}

/**
 * Builds and pushes the image of an app. Returns its digest.
 *
 * @param {string} app
 * @param {{ version: string, registry: string, commit: string, base: { image: string, digest: string | undefined }, folder: string }} release
 */
async function buildImage(app, { version, registry, commit, base, folder }) {
  const metadata = `${folder}-${app}.json`;
  await must('docker', [
    ...['buildx', 'build', '--file=docker/Dockerfile', `--target=${app}`],
    `--platform=${platforms}`,
    `--build-arg=NODE_IMAGE=${base.image}@${base.digest}`,
    `--build-arg=GLOVEBOX_COMMIT=${commit}`,
    `--tag=${registry}/glovebox-${app}:${version}`,
    ...['--sbom=true', '--provenance=mode=max', '--push', `--metadata-file=${metadata}`, '.'],
  ]);
  const { 'containerimage.digest': digest } = JSON.parse(readFileSync(metadata, 'utf8'));
  rmSync(metadata);
  return digest;
}

/** @param {string} version */
function nextSteps(version) {
  return `Sign provenance.json, then: git push origin HEAD v${version}, and put the files where users find them.`;
}
