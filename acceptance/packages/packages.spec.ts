import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { runningProduct, scriptEnvironment } from '../product';
import { everything } from './expected-outcome';

const run = promisify(execFile);
const product = runningProduct();
const root = join(__dirname, '../..');
/** What `npm install` of the packages brings along. */
const dependencies = [
  ...['openapi-fetch', 'openapi-typescript-helpers'],
  ...['standardwebhooks', '@stablelib/base64', 'fast-sha256', '@types/node', 'undici-types'],
];
let folder: string;

/** Unpacks the packages in a folder of their own, as an install does, but without a registry. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'glovebox-packed-'));
  const { stdout } = await run(process.execPath, [join(root, 'tools/pack.mjs'), folder]);
  for (const file of stdout.trim().split('\n')) {
    const [, name = ''] = /^glovebox-(.+)-\d+\.\d+\.\d+\.tgz$/.exec(basename(file)) ?? [];
    const place = join(folder, 'node_modules/@glovebox', name);
    mkdirSync(place, { recursive: true });
    await run('tar', ['-xzf', file, '-C', place, '--strip-components=1']);
  }
  for (const name of dependencies) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }
  for (const file of ['everything.mjs', 'typed.mts', 'code.cjs', 'named-in-samples.d.mts']) {
    copyFileSync(join(__dirname, file), join(folder, file));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The text of HTML. */
const unescaped = (html: string): string =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

const node = (...args: string[]) =>
  run(process.execPath, args, {
    cwd: folder,
    env: {
      ...scriptEnvironment(),
      NODE_OPTIONS: '',
      GLOVEBOX_URL: product.baseUrl,
      GLOVEBOX_KEY: product.privateKey,
      ADMIN_KEY: product.adminKey,
    },
  });

it('the packed client does everything that it says, in a folder without the repository', async () => {
  const { stdout } = await node('everything.mjs');
  expect(JSON.parse(stdout)).toEqual(everything);
});

it('CommonJS may require the packed client, and its classes are the same in both entries', async () => {
  const program = `
    const { errors, Glovebox } = require('@glovebox/client');
    const { verifyWebhook } = require('@glovebox/client/webhooks');
    const { Webhook } = require('standardwebhooks');
    const secret = 'whsec_' + Buffer.from('secret').toString('base64');
    const body = JSON.stringify({ title: 'T', status: 500, code: 'reactor_error' });
    const at = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
    };
    const { error } = verifyWebhook(body, headers, secret);
    new Glovebox().get('/tenants/self', {}).catch(({ code }) => code).then((code) =>
      console.log(code, error instanceof errors.reactor_error));`;
  expect((await node('--eval', program)).stdout).toBe('permission_denied true\n');
});

it('the types of the packed packages hold in ES modules, in CommonJS, in stored code, in the guide and at /docs', async () => {
  const options = { strict: true, noEmit: true, allowJs: true, checkJs: true, skipLibCheck: true };
  const common = {
    module: 'nodenext',
    target: 'es2022',
    types: ['node', '@glovebox/reactor-types'],
  };
  const files = ['typed.mts', 'code.cjs', 'common.cts', 'named-in-samples.d.mts'];
  writeFileSync(
    join(folder, 'common.cts'),
    `import client = require('@glovebox/client');
     export const name = async (): Promise<string> =>
       (await new client.Glovebox().get('/tenants/self')).name;`,
  );
  const samples = readFileSync(join(root, 'docs/guide/client.md'), 'utf8').matchAll(
    /^```ts\n([^]*?)^```/gm,
  );
  const page = await (await fetch(`${product.baseUrl}/docs`)).text();
  const calls = [...page.matchAll(/<pre class="ts">([^<]*)<\/pre>/g)].map(([, call = '']) =>
    unescaped(call),
  );
  expect(calls.length).toBeGreaterThan(60);
  const all = [...[...samples].map(([, sample = '']) => sample), ...calls];
  for (const [nth, sample] of all.entries()) {
    const imports = sample.match(/^import .*$/gm) ?? [];
    const rest = sample.replace(/^import .*$/gm, '');
    const text = [...imports, `export async function sample() {`, rest, '}'].join('\n');
    writeFileSync(join(folder, `sample-${nth}.mts`), text);
    files.push(`sample-${nth}.mts`);
  }
  const config = { compilerOptions: { ...options, ...common }, files };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await node(tsc).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});
