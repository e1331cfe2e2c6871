import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fromDebianPackages, hasApt } from './debian-packages.mjs';
import { serviceFolder } from './reachable.mjs';
import { useFolder } from '../spec-folder.mjs';

const folder = useFolder();

/** @typedef {(response: import('node:http').ServerResponse, bytes: Buffer) => void} Answer */

/** @type {Answer} */
const whole = (response, bytes) => void response.end(bytes);
/** @type {Answer} */
const notFound = (response) => void response.writeHead(404).end();
/** @type {Answer} */
const changed = (response, bytes) =>
  void response.end(Buffer.from(bytes).fill(0, bytes.length - 9));
/** @type {Answer} */
const cutOff = (response, bytes) => {
  response.writeHead(200, { 'content-length': String(bytes.length) });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
};

/** A mirror with one package, `tiny`, which holds a program that says hello. */
function buildPackage() {
  const source = join(folder, 'tiny');
  mkdirSync(join(source, 'DEBIAN'), { recursive: true });
  mkdirSync(join(source, 'usr', 'bin'), { recursive: true });
  const fields = 'Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: nobody\n';
  writeFileSync(join(source, 'DEBIAN', 'control'), `${fields}Description: says hello\n`);
  writeFileSync(join(source, 'usr', 'bin', 'tiny'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
  const file = join(folder, 'tiny.deb');
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', source, file]);
  const deb = readFileSync(file);
  const sha256 = createHash('sha256').update(deb).digest('hex');
  const place = `Filename: ./tiny.deb\nSize: ${deb.length}\nSHA256: ${sha256}\n`;
  return { deb, index: `${fields}${place}Description: says hello\n` };
}

/** Serves the package as each test wants it, and points apt at itself alone. */
async function startMirror() {
  const { deb, index } = buildPackage();
  const mirror = { answer: whole, fetched: 0, close: () => server.close() };
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/Packages')) return void response.end(index);
    if (!request.url?.endsWith('.deb')) return notFound(response, deb);
    mirror.fetched += 1;
    mirror.answer(response, deb);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const sources = join(folder, 'sources.list');
  const configuration = join(folder, 'apt.conf');
  writeFileSync(sources, `deb [trusted=yes allow-insecure=yes] http://127.0.0.1:${port}/ ./\n`);
  writeFileSync(
    configuration,
    [
      `Dir::Etc::SourceList "${sources}";`,
      'Dir::Etc::SourceParts "-";',
      'Acquire::http::Proxy "DIRECT";',
      'Acquire::Retries "0";',
    ].join('\n'),
  );
  process.env.APT_CONFIG = configuration;
  return mirror;
}

/** @param {{ command: string }} program */
function works({ command }) {
  return existsSync(command) && execFileSync(command, { encoding: 'utf8' }) === 'hello\n';
}

/** @param {string} name */
function bringAlong(name) {
  const place = serviceFolder(join(folder, name));
  return fromDebianPackages({
    name: 'x',
    program: 'tiny',
    packages: ['tiny'],
    works,
    folder: place,
  });
}

if (!hasApt()) {
  it('without apt no program is brought along', async () => {
    expect(await bringAlong('nowhere')).toBeUndefined();
  });
} else {
  describe('a program from a Debian mirror', () => {
    /** @type {Awaited<ReturnType<typeof startMirror>>} */
    let mirror;
    beforeAll(async () => {
      mirror = await startMirror();
    });
    beforeEach(() => {
      mirror.answer = whole;
      mirror.fetched = 0;
    });
    afterAll(() => mirror.close());

    it('is unpacked once, and found again without the mirror', async () => {
      const first = await bringAlong('whole');
      expect(first?.command).toBe(join(folder, 'whole', 'x', 'root', 'usr', 'bin', 'tiny'));
      mirror.answer = notFound;
      expect(await bringAlong('whole')).toEqual(first);
      expect(mirror.fetched).toBe(1);
    });

    it.each([
      ['that the mirror does not have', notFound],
      ['that is cut off half-way', cutOff],
      ['whose bytes are not those of its checksum', changed],
    ])('%s is not unpacked, leaves nothing behind, and is fetched anew', async (name, answer) => {
      mirror.answer = answer;
      expect(await bringAlong(name)).toBeUndefined();
      expect(mirror.fetched).toBeGreaterThan(0);
      expect(readdirSync(join(folder, name))).toEqual([]);
      mirror.answer = whole;
      expect(await bringAlong(name)).toBeDefined();
    });
  });
}
