import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Trouble } from '../progress.mjs';
import { run } from '../processes.mjs';
import { repoRoot } from '../repo.mjs';
import { shippedLocks, shippedPackages } from './licences.mjs';

/**
 * Runs a command whose failure ends the release.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('../types.js').Environment} [env]
 */
export async function must(command, args, env = process.env) {
  const { code, output } = await run(command, [...args], { cwd: repoRoot, env });
  if (code !== 0) throw new Trouble(`${command} ${args.join(' ')} failed:\n${output.trim()}`);
  return output.trim();
}

/**
 * A list of parts in CycloneDX for each lock file. npm leaves parts out that tools of development use
 * as well, so it is shown a copy without these.
 *
 * @param {string} folder
 * @param {string} version
 */
export async function writeSboms(folder, version) {
  for (const { name, folder: part } of shippedLocks) {
    const copy = mkdtempSync(join(tmpdir(), 'glovebox-sbom-'));
    try {
      copyShipped(part, copy, { name: `glovebox-${name}`, version });
      const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', `--prefix=${copy}`];
      const text = await must('npm', args);
      const sbom = JSON.parse(text.slice(text.indexOf('{')));
      // npm names the whole by its folder.
      sbom.metadata.component.name = `glovebox-${name}`;
      writeFileSync(join(folder, `sbom-${name}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
    } finally {
      rmSync(copy, { recursive: true });
    }
  }
}

/**
 * @param {string} part
 * @param {string} copy
 * @param {{ name: string, version: string }} whole
 */
function copyShipped(part, copy, whole) {
  /** @param {string} file */
  const read = (file) => JSON.parse(readFileSync(join(repoRoot, part, file), 'utf8'));
  const { dependencies, optionalDependencies } = read('package.json');
  const { lockfileVersion, packages } = read('package-lock.json');
  const about = { ...whole, private: true, dependencies, optionalDependencies };
  const shipped = Object.fromEntries(Object.entries(packages).filter(([, { dev }]) => !dev));
  const lock = { ...whole, lockfileVersion, requires: true, packages: { ...shipped, '': about } };
  writeFileSync(join(copy, 'package.json'), JSON.stringify(about));
  writeFileSync(join(copy, 'package-lock.json'), JSON.stringify(lock));
}

/** @param {string} folder */
export function writeLicences(folder) {
  const text = JSON.stringify(shippedPackages(), null, 2);
  writeFileSync(join(folder, 'licences.json'), `${text}\n`);
}

/**
 * @param {string} folder
 * @param {{ version: string, commit: string }} release
 */
export async function writeSources(folder, { version, commit }) {
  const name = `glovebox-${version}`;
  const file = join(folder, `${name}.tar.gz`);
  await must('git', [
    'archive',
    `--prefix=${name}/`,
    '--format=tar.gz',
    `--output=${file}`,
    commit,
  ]);
}

/** @param {string} file */
export const sha256Of = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/**
 * The statement of how the release was made, in the forms of in-toto and SLSA. It proves nothing
 * until it is signed.
 *
 * @param {string} folder
 * @param {{
 *   version: string,
 *   commit: string,
 *   registry: string,
 *   startedOn: Date,
 *   base: { image: string, digest: string | undefined },
 *   digests: Readonly<Record<string, string>>,
 * }} release
 */
export function writeProvenance(folder, release) {
  const { version, commit, registry, startedOn, base, digests } = release;
  const files = readdirSync(folder).map((name) => ({
    name,
    digest: { sha256: sha256Of(join(folder, name)) },
  }));
  const images = Object.entries(digests).map(([app, digest]) => ({
    name: `${registry}/glovebox-${app}`,
    digest: { sha256: digest.replace('sha256:', '') },
  }));
  const lock = sha256Of(join(repoRoot, 'package-lock.json'));
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files, ...images],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:glovebox:release:1',
        externalParameters: { version, registry },
        resolvedDependencies: [
          { uri: 'git:glovebox', digest: { gitCommit: commit } },
          { uri: 'package-lock.json', digest: { sha256: lock } },
          {
            uri: `docker:${base.image}`,
            ...(base.digest && { digest: { sha256: base.digest.replace('sha256:', '') } }),
          },
        ],
      },
      runDetails: {
        builder: { id: 'urn:glovebox:tools/release.mjs', version: { node: process.version } },
        metadata: { startedOn: startedOn.toISOString(), finishedOn: new Date().toISOString() },
      },
    },
  };
  writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(statement, null, 2)}\n`);
}

/** @param {string} folder */
export function writeChecksums(folder) {
  const lines = readdirSync(folder).map((name) => `${sha256Of(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}
