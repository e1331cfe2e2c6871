// Collects what the image of an app holds. See --help.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { importedPackages, withNativeParts } from './lib/imported-packages.mjs';
import { script, Trouble } from './lib/progress.mjs';
import { appNames, repoRoot } from './lib/repo.mjs';

const help = `
usage: node tools/image-files.mjs apps/NAME FOLDER
       node tools/image-files.mjs --list

Copies the built app, with the page of the console where it is built, and of the installed packages those that its bundle imports, to FOLDER.
--list writes the names of these packages to docker/packages.json, for all apps.`;

const manifest = join(repoRoot, 'docker', 'packages.json');

/** Types, maps, and texts about a package. Licences are left in. */
const leftOut = /\.(?:[cm]?ts|map|flow|tsbuildinfo|markdown|md)$/i;
const licence = /^(?:licen[cs]e|notice|copying)/i;

await script(help, async (args) => {
  const [root, folder] = args;
  if (root === '--list') return writeManifest();
  const app = appNames.find((name) => root === `apps/${name}`);
  if (app === undefined || folder === undefined) throw new Trouble(help.trim());
  const built = join(repoRoot, 'dist', 'apps', app);
  if (!existsSync(built))
    throw new Trouble(`${app} is not built: node tools/build.mjs apps/${app}`);
  const into = resolve(folder);
  cpSync(built, join(into, 'dist', 'apps', app), {
    recursive: true,
    filter: (file) => basename(file) !== '.build-hash',
  });
  const page = join(repoRoot, 'dist', 'apps', 'console');
  if (app === 'management-api' && existsSync(page)) {
    cpSync(page, join(into, 'dist', 'apps', 'console'), { recursive: true });
  }
  for (const name of withNativeParts(await importedPackages(`apps/${app}`)))
    copyPackage(name, into);
  writeFileSync(join(into, 'package.json'), aboutProduct());
});

/**
 * @param {string} name
 * @param {string} into
 */
function copyPackage(name, into) {
  const from = join(repoRoot, 'node_modules', name);
  const nested = join(from, 'node_modules');
  mkdirSync(join(into, 'node_modules', name), { recursive: true });
  cpSync(from, join(into, 'node_modules', name), {
    recursive: true,
    filter: (file) => file !== nested && (!leftOut.test(file) || licence.test(basename(file))),
  });
}

/** Without scripts and lists of packages, which are of the repository. */
function aboutProduct() {
  const { name, version, license } = JSON.parse(
    readFileSync(join(repoRoot, 'package.json'), 'utf8'),
  );
  return `${JSON.stringify({ name, version, license, private: true }, null, 2)}\n`;
}

async function writeManifest() {
  const lists = appNames.map(async (app) => [app, await importedPackages(`apps/${app}`)]);
  const packages = Object.fromEntries(await Promise.all(lists));
  writeFileSync(manifest, `${JSON.stringify(packages, null, 2)}\n`);
}
