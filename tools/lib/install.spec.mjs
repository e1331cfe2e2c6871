import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchRuntime } from './install.mjs';

const { npm_execpath } = process.env;
let folder = '';
const node = () => join(folder, 'node_modules', process.arch, 'bin', 'node');

/**
 * A program in the place of npm, which needs a network.
 *
 * @param {string} text
 */
function npmThat(text) {
  const npm = join(folder, '..', 'npm.js');
  writeFileSync(
    npm,
    `const run = require('child_process').execSync; run(${JSON.stringify(text)});`,
  );
  process.env.npm_execpath = npm;
}

const lock = (version = '1.0.0') =>
  JSON.stringify({
    packages: {
      '': {},
      [`node_modules/${process.arch}`]: { version, optional: true },
    },
  });
const installs = `mkdir -p node_modules/${process.arch}/bin && sleep 0.2 &&
  echo program > node_modules/${process.arch}/bin/node &&
  cp package-lock.json node_modules/.package-lock.json`;

beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'glovebox-install-'));
  folder = join(root, 'node99');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'package-lock.json'), lock());
});

afterEach(() => {
  if (npm_execpath === undefined) delete process.env.npm_execpath;
  else process.env.npm_execpath = npm_execpath;
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

describe('fetching a runtime', () => {
  it('leaves the whole runtime and nothing else, also when two do it at once', async () => {
    npmThat(installs);
    await Promise.all([fetchRuntime(folder), fetchRuntime(folder)]);
    expect(existsSync(node())).toBe(true);
    expect(readdirSync(folder).sort()).toEqual([
      'node_modules',
      'package-lock.json',
      'package.json',
    ]);
  });

  it('does nothing where the wanted version is there, and replaces another', async () => {
    npmThat(installs);
    await fetchRuntime(folder);
    npmThat('exit 1');
    await fetchRuntime(folder);
    writeFileSync(join(folder, 'package-lock.json'), lock('2.0.0'));
    await expect(fetchRuntime(folder)).rejects.toThrow('npm ci failed');
    expect(existsSync(node())).toBe(true);
    npmThat(installs);
    await fetchRuntime(folder);
    expect(existsSync(node())).toBe(true);
  });

  it('removes what a killed one has left, and nothing of one that is under way', async () => {
    npmThat(installs);
    const { pid: gone } = spawnSync('true');
    mkdirSync(join(folder, `.fetching-${gone}-left`, 'node_modules'), { recursive: true });
    mkdirSync(join(folder, `.fetching-${process.ppid}-going`));
    await fetchRuntime(folder);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([
      `.fetching-${process.ppid}-going`,
    ]);
  });

  it.each([
    ['fails half-way', `mkdir -p node_modules/${process.arch}/bin; exit 1`, 'npm ci failed'],
    [
      'leaves the program out',
      'mkdir node_modules && cp package-lock.json node_modules/.package-lock.json',
      'npm ci brought no program',
    ],
  ])('is an error and leaves nothing when npm %s', async (_, text, message) => {
    npmThat(text);
    await expect(fetchRuntime(folder)).rejects.toThrow(message);
    expect(readdirSync(folder).sort()).toEqual(['package-lock.json', 'package.json']);
  });
});
