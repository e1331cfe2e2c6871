import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fetchRuntime, runtimeFolder } from '../install.mjs';
import { run } from '../processes.mjs';
import { step, Trouble } from '../progress.mjs';
import { appNames, repoRoot } from '../repo.mjs';

const dockerfile = join(repoRoot, 'docker', 'Dockerfile');

/** The name of the base in the Dockerfile: node:24.21.0-bookworm-slim */
const baseName = () => /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync(dockerfile, 'utf8'))?.[1] ?? '';

/**
 * For podman as well, which runs what buildah builds.
 *
 * @param {string} folder
 */
export const storeOptions = (folder) => [
  ...['--root', join(folder, 'images'), '--runroot', join(folder, 'run')],
  ...['--storage-driver', 'overlay'],
];

/**
 * Runs a program and returns what it prints.
 *
 * @param {string} command
 * @param {readonly string[]} args
 */
export async function runOrFail(command, args, options = {}) {
  const { code, output } = await run(command, args, options);
  if (code === 0) return output;
  const shown = output.trim().split('\n').slice(-25).join('\n');
  throw new Trouble(`${command} ${args.join(' ')}\nended with ${code}:\n${shown}`);
}

/**
 * Builds the four images from the Dockerfile as it is, into a store of their own below `folder`.
 *
 * @param {string} folder
 * @param {string} tag
 */
export async function buildImages(folder, tag) {
  const buildah = (/** @type {string[]} */ ...args) =>
    runOrFail('buildah', [...storeOptions(folder), ...args], { cwd: repoRoot });
  await step(`a base that stands in for ${baseName()}`, () => makeBase(folder, buildah));
  const access = await registryAccess(folder);
  for (const app of appNames) {
    await step(`image of ${app}`, () =>
      buildah(
        ...['bud', '--format', 'docker', '--isolation', 'chroot', '--pull-never', '--layers'],
        ...[...access, '--file', dockerfile, '--target', app, '--tag', imageName(app, tag), '.'],
      ).then(() => undefined),
    );
  }
}

/**
 * @param {string} app
 * @param {string} tag
 */
export const imageName = (app, tag) => `localhost/glovebox-${app}:${tag}`;

/**
 * Debian's smallest system, slim like the official image, with the Node of the Dockerfile's version.
 *
 * @param {string} folder
 * @param {(...args: string[]) => Promise<string>} buildah
 */
async function makeBase(folder, buildah) {
  const wanted = /^node:([\d.]+)-(\w+)-slim$/.exec(baseName());
  if (!wanted) throw new Trouble(`The base ${baseName()} is not node:VERSION-SUITE-slim.`);
  const [, version = '', suite = ''] = wanted;
  const runtime = runtimeFolder(`node${version.split('.')[0]}`);
  await fetchRuntime(runtime);
  const { [process.arch]: pin } = readJson(join(runtime, 'package.json')).optionalDependencies;
  if (!pin.endsWith(`@${version}`)) throw new Trouble(`${runtime} has ${pin}, not ${version}.`);

  const node = join(folder, 'node');
  copyFileSync(join(runtime, 'node_modules', process.arch, 'bin', 'node'), node);
  chmodSync(node, 0o755);
  const npm = dirname(dirname(process.env.npm_execpath ?? ''));
  if (basename(npm) !== 'npm') throw new Trouble('Run it by npm: npm run images:verify');
  const archive = join(folder, 'base.tar');
  const hooks = [
    `upload ${node} /usr/local/bin/node`,
    'chmod 0755 "$1/usr/local/bin/node"',
    'mkdir -p "$1/usr/local/lib/node_modules"',
    `copy-in ${npm} /usr/local/lib/node_modules`,
    'ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"',
    'chroot "$1" useradd --uid 1000 --user-group --create-home node',
    'rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/*',
  ];
  const without = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*'];
  await runOrFail('mmdebstrap', [
    ...['--variant=minbase', '--aptopt=APT::Install-Recommends "false"', ...(await aptSettings())],
    // As the official image does: without the package usrmerge, and Perl with it.
    ...['--include=usr-is-merged', '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr'],
    ...without.map((path) => `--dpkgopt=path-exclude=${path}`),
    ...hooks.map((hook) => `--customize-hook=${hook}`),
    ...[suite, archive],
  ]);
  const container = (await buildah('from', 'scratch')).trim();
  await buildah('add', '--quiet', container, archive, '/');
  await buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container); // prettier-ignore
  await buildah('commit', '--quiet', '--rm', container, `localhost/${baseName()}`);
}

/** What this machine's apt needs to trust its mirror's dates. */
async function aptSettings() {
  const { output } = await run('apt-config', ['dump']);
  return [...output.matchAll(/^Acquire::Check-(?:Valid-Until|Date) ".*";$/gm)].map(
    ([line]) => `--aptopt=${line}`,
  );
}

/**
 * The way of this machine's npm to its registry, mounted while the images are built.
 *
 * @param {string} folder
 */
async function registryAccess(folder) {
  const setting = async (/** @type {string} */ name) =>
    (await run('npm', ['config', 'get', name], { cwd: repoRoot })).output.trim();
  const authority = [await setting('cafile'), process.env.NODE_EXTRA_CA_CERTS ?? ''].find(
    existsSync,
  );
  const inside = '/etc/npm-ca.crt';
  const npmrc = join(folder, 'npmrc');
  const lines = [
    `registry=${await setting('registry')}`,
    ...(authority ? [`cafile=${inside}`] : []),
  ];
  writeFileSync(npmrc, `${lines.join('\n')}\n`);
  return [
    ...['--volume', `${npmrc}:/root/.npmrc:ro`],
    ...(authority ? ['--volume', `${authority}:${inside}:ro`] : []),
  ];
}

/** @param {string} file */
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
