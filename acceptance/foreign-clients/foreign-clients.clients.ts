import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startOwnProduct, type OwnProduct } from '../own-product';
import { revealingApplication, scriptEnvironment } from '../product';
import { startReceiver, type Receiver } from '../receiver';

jest.setTimeout(300_000);

const run = promisify(execFile);
const kept = join(__dirname, '../../.glovebox/foreign-clients');

let product: OwnProduct;
let destination: Receiver;
/** The key of an application that sees what it stores. */
let revealing: string;

beforeAll(async () => {
  [product, destination] = await Promise.all([
    startOwnProduct({ HEADER_PREFIXES: 'SVC,BT' }),
    startReceiver(),
  ]);
  const permissions = ['create', 'read', 'update', 'delete', 'search', 'use'];
  revealing = String((await revealingApplication(product, permissions)).key);
});
afterAll(async () => {
  await Promise.all([destination.close(), product.stop()]);
});

/** The package as npm has it, in a folder of its own that stays. */
async function installed(name: string, version: string): Promise<string> {
  const place = join(kept, `${name}-${version}`);
  if (existsSync(join(place, 'node_modules'))) return place;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"private":true}');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
  await run('npm', [...args, `@basis-theory/${name}@${version}`], { cwd: place });
  return place;
}

async function outcomeOf(name: string, version: string): Promise<unknown> {
  // basis-theory-js speaks https with every other host.
  const baseUrl = product.baseUrl.replace('127.0.0.1', 'localhost');
  const place = await installed(name, version);
  const { stdout } = await run(process.execPath, [join(__dirname, `${name}.mjs`), place], {
    env: {
      ...scriptEnvironment(),
      NODE_OPTIONS: '',
      BASE_URL: baseUrl,
      ADMIN_KEY: product.adminKey,
      PRIVATE_KEY: revealing,
      DESTINATION: destination.url,
    },
  });
  return JSON.parse(stdout.slice(stdout.indexOf('{"worked"')));
}

/** What Glovebox does not have (docs/migrating.md): every other call works. */
const ofNodeSdk = {
  'tokens.listV2': '404',
  'tokens.searchV2': '404',
  'reactors.create': '400',
  'reactors.reactAsync': '404',
  'reactors.results.get': '404',
  'logs.getEntityTypes': '404',
  'sessions.create': '405',
  'webhooks.list': '404',
};
const noSuchCall = 'this release has no such call';

it.each([
  ['node-sdk', '2.6.1', 34, ofNodeSdk],
  [
    ...(['node-sdk', '5.7.0', 32] as const),
    { ...ofNodeSdk, 'tokens.list': noSuchCall, 'tokens.search': noSuchCall },
  ],
])('%s %s calls all that Glovebox has', async (name, version, worked, failed) => {
  expect(await outcomeOf(name, version)).toEqual({ worked, failed });
});
