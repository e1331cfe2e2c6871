import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runningProduct, scriptEnvironment } from '../product';
import { everything } from './expected-outcome';

const run = promisify(execFile);
jest.setTimeout(300_000);
const product = runningProduct();
const root = join(__dirname, '../..');
let folder: string;

function versionOfTypes(): string {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  return devDependencies['@types/node'] ?? '';
}

/** An empty folder of somebody who has the two packages alone, and the registry. */
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'glovebox-installed-')));
  const { stdout } = await run(process.execPath, [join(root, 'tools/pack.mjs'), folder]);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund'];
  // As in every folder with TypeScript for Node.js.
  const packages = [...stdout.trim().split('\n'), `@types/node@${versionOfTypes()}`];
  await run('npm', ['install', ...options, ...packages], { cwd: folder });
  for (const file of ['everything.mjs', 'typed.mts', 'code.cjs']) {
    copyFileSync(join(__dirname, file), join(folder, file));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = {
  ...scriptEnvironment(),
  NODE_OPTIONS: '',
  GLOVEBOX_URL: product.baseUrl,
  GLOVEBOX_KEY: product.privateKey,
  ADMIN_KEY: product.adminKey,
};

it.each(['node20', 'node22', 'node24'])(
  'the client that npm installed from its package does everything that it says on %s',
  async (name) => {
    const node = join(root, 'apps/runner/runtimes', name, 'node_modules', process.arch, 'bin/node');
    const version = await run(node, ['--version']);
    expect(`v${name.slice(4)}`).toBe(version.stdout.split('.')[0]);
    const { stdout } = await run(node, ['everything.mjs'], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual(everything);
    const program = `const { Glovebox } = require('@glovebox/client');
      new Glovebox().get('/applications/key').then(({ type }) => console.log(type));`;
    expect((await run(node, ['--eval', program], { cwd: folder, env })).stdout).toBe('private\n');
  },
);

it('the types of both packages hold with what npm installed beside them', async () => {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, allowJs: true, checkJs: true, skipLibCheck: true },
    ...{ module: 'nodenext', target: 'es2022', types: ['node', '@glovebox/reactor-types'] },
  };
  const config = { compilerOptions, files: ['typed.mts', 'code.cjs'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const compiled = run(process.execPath, [tsc], { cwd: folder, env });
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});
