import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startOwnProduct, type OwnProduct } from '../own-product';
import { PackedCli } from '../command-line/packed';
import { call, revealingApplication, scriptEnvironment } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { installed } from './installed';

jest.setTimeout(300_000);

const run = promisify(execFile);
const permissions = ['create', 'read', 'update', 'delete', 'search', 'use'];

let product: OwnProduct;
let destination: Receiver;
/** The key of an application that sees what it stores. */
let revealing: string;

beforeAll(async () => {
  [product, destination] = await Promise.all([
    startOwnProduct({ HEADER_PREFIXES: 'SVC,BT' }),
    startReceiver(),
  ]);
  revealing = String((await revealingApplication(product, permissions)).key);
});
afterAll(async () => {
  await Promise.all([destination.close(), product.stop()]);
});

interface Keys {
  readonly ADMIN_KEY: string;
  readonly PRIVATE_KEY: string;
  /** The resources that it makes stay. */
  readonly LEAVE?: string;
}

async function outcomeOf(name: string, version: string, keys: Keys): Promise<unknown> {
  // basis-theory-js speaks https with every other host.
  const baseUrl = product.baseUrl.replace('127.0.0.1', 'localhost');
  const place = await installed(`@basis-theory/${name}`, version);
  const { stdout } = await run(process.execPath, [join(__dirname, `${name}.mjs`), place], {
    env: {
      ...scriptEnvironment(),
      NODE_OPTIONS: '',
      BASE_URL: baseUrl,
      DESTINATION: destination.url,
      ...keys,
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
const ofBasisTheoryJs = { 'tenants.retrieveUsageReport': '404', 'sessions.create': '405' };
const noSuchCall = 'this release has no such call';

const clients = [
  ['node-sdk', '2.6.1', 34, ofNodeSdk],
  [
    ...(['node-sdk', '5.7.0', 32] as const),
    { ...ofNodeSdk, 'tokens.list': noSuchCall, 'tokens.search': noSuchCall },
  ],
  ['basis-theory-js', '1.79.3', 42, ofBasisTheoryJs],
  ['basis-theory-js', '4.30.2', 46, ofBasisTheoryJs],
] as const;

it.each(clients)('%s %s calls all that Glovebox has', async (name, version, worked, failed) => {
  const keys = { ADMIN_KEY: product.adminKey, PRIVATE_KEY: revealing };
  expect(await outcomeOf(name, version, keys)).toEqual({ worked, failed });
});

describe('the command line', () => {
  let cli: PackedCli;
  beforeAll(() => {
    cli = new PackedCli();
  });
  afterAll(() => cli.remove());

  it.each(clients)(
    'what %s %s has made is pulled, and a push gives it slugs and changes nothing else',
    async (name, version, _, failed) => {
      const tenant = await product.script('tenant-create.mjs', '--name', `${name} ${version}`);
      const { management_key: adminKey } = JSON.parse(tenant) as { management_key: string };
      const { key } = await revealingApplication(product, permissions, adminKey);
      const keys = { ADMIN_KEY: adminKey, PRIVATE_KEY: String(key), LEAVE: 'true' };
      expect(await outcomeOf(name, version, keys)).toMatchObject({ failed });
      const cwd = join(cli.cwd, `${name}-${version}`);
      mkdirSync(cwd);
      writeFileSync(join(cwd, 'glovebox.yaml'), 'version: 1\n');
      const env = { GLOVEBOX_URL: product.baseUrl, GLOVEBOX_KEY: adminKey };
      const push = async (): Promise<Change[]> => {
        const said = await cli.succeed(['push', '--json'], { cwd, env });
        return (JSON.parse(said) as { changes: Change[] }).changes;
      };
      const before = await resourcesOf(adminKey);
      await cli.succeed(['pull'], { cwd, env });
      const first = await push();
      const kinds = new Set(first.map(({ kind }) => kind));
      expect(kinds).toEqual(new Set(['application', 'reactor', 'proxy']));
      expect(first.filter(({ members }) => members?.join() !== 'slug')).toEqual([]);
      expect(await resourcesOf(adminKey)).toEqual(before);
      expect((await push()).filter(({ change }) => change !== 'unchanged')).toEqual([]);
    },
  );
});

interface Change {
  readonly kind: string;
  readonly change: string;
  readonly members?: readonly string[];
}

/** All that a tenant has, but for slugs and who gave them. Code without a runtime has the oldest one. */
async function resourcesOf(adminKey: string): Promise<unknown> {
  const paths = ['/applications', '/reactor-formulas', '/reactors', '/proxies'];
  return Promise.all(
    paths.map(async (path) => {
      const url = `${product.baseUrl}${path}?size=100`;
      const { data } = (await call('GET', url, { key: adminKey })).body;
      return (data as Record<string, unknown>[]).map(
        ({ slug: _, modified_at: __, modified_by: ___, ...rest }) =>
          Object.fromEntries(
            Object.entries(rest).map(([member, value]) => [
              member,
              member.endsWith('_transform') ? { runtime: 'node16', ...(value as object) } : value,
            ]),
          ),
      );
    }),
  );
}
