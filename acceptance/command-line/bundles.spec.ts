import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '@glovebox/testing';
import { call, runningProduct, scriptEnvironment } from '../product';
import { PackedCli, type Ended } from './packed';

const { baseUrl: url } = runningProduct();
let keys: Readonly<Record<string, string>>;
let key: string;

let cli: PackedCli;
beforeAll(async () => {
  const script = join(__dirname, '..', '..', 'tools', 'tenant-create.mjs');
  const args = [script, '--name', 'bundles', '--demo'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: scriptEnvironment(),
  });
  const tenant = JSON.parse(stdout) as { management_key: string; private_key: string };
  key = tenant.management_key;
  keys = { GLOVEBOX_URL: url, GLOVEBOX_KEY: key, GLOVEBOX_PRIVATE_KEY: tenant.private_key };
  cli = new PackedCli();
  await cli.succeed(['init']);
  for (const folder of ['reactors', 'proxies', 'tests']) {
    rmSync(join(cli.cwd, folder), { recursive: true });
  }
  write('reactors/large/reactor.yaml', 'name: Large\nruntime: node20\n');
  write('reactors/large/table.ts', table('a'));
  write('reactors/large/code.ts', code);
});
afterAll(() => cli.remove());

const code = `import { sizeOf, table } from './table';

interface Arguments {
  readonly fails?: boolean;
}

export default ({ args }: { readonly args: Arguments }) => {
  if (args.fails) {
    console.log(new Error('here').stack);
    throw new Error('as asked');
  }
  return { raw: { size: sizeOf(table) } };
};
`;

/** 200,000 characters that no bundler can leave out. */
const table = (letter: string): string =>
  `export const table = '${letter.repeat(200_000)}';\nexport const sizeOf = (text: string): number => text.length;\n`;

function write(name: string, text: string): void {
  const path = join(cli.cwd, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const run = (args: readonly string[]): Promise<Ended> => cli.run(args, { env: keys });
const json = async (...args: string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await cli.succeed([...args, '--json'], { env: keys })) as Record<string, unknown>;
interface Change {
  readonly slug: string;
  readonly change: string;
  readonly members?: readonly string[];
}
const pushAll = async (): Promise<readonly Change[]> =>
  (await json('push')).changes as readonly Change[];
const push = async (): Promise<string | undefined> =>
  (await pushAll()).find(({ slug }) => slug === 'large')?.change;

async function deployed(): Promise<{ readonly formula: { readonly code_sha256: string } }> {
  const { body } = await call('GET', `${url}/reactors?slug=large`, { key });
  const [reactor] = body.data as [Awaited<ReturnType<typeof deployed>>];
  return reactor;
}

it('code of 200,000 characters is pushed, runs, and a second push changes nothing', async () => {
  expect(await push()).toBe('created');
  expect(await json('invoke', 'large')).toEqual({ raw: { size: 200_000 } });
  expect(await push()).toBe('unchanged');
  expect((await deployed()).formula.code_sha256).toMatch(/^[0-9a-f]{64}$/);
});

it('a run of it names the line of the source, also in what it wrote', async () => {
  write('args.json', '{"fails":true}');
  expect((await run(['invoke', 'large', '--args', 'args.json'])).code).not.toBe(0);
  const last = async () => {
    const { body } = await call('GET', `${url}/runs?status=failed`, { key });
    const [id] = (body.data as { id: string }[]).map((one) => one.id);
    return id === undefined ? undefined : (await call('GET', `${url}/runs/${id}`, { key })).body;
  };
  const shown = await waitFor(last);
  const source = 'reactors/large/code.ts';
  expect(shown).toMatchObject({ position: { line: 10, source }, stack: [{ line: 10, source }] });
  expect(JSON.stringify(shown?.lines)).toContain('reactors/large/code.ts:9:');
});

it('it is tried as it is, before it is pushed', async () => {
  write(
    'tests/large.test.ts',
    `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reactor } from '@glovebox/testing';

test('counts', async () => {
  const { result } = await reactor('large')({});
  assert.deepEqual(result, { raw: { size: 200_000 } });
});
`,
  );
  const { code: exit, stdout, stderr } = await run(['test']);
  expect([exit, stdout, stderr]).toEqual([0, stdout, stderr]);
});

it('a change of it is seen, deployed, and pulled as JavaScript that is the same', async () => {
  write('reactors/large/table.ts', table('b'));
  expect((await run(['diff'])).stdout).toMatch(/-bundle [0-9a-f]{64}\n\+bundle [0-9a-f]{64}/);
  expect(await push()).toBe('updated');
  expect((await run(['diff'])).stdout).not.toContain('large');
  const before = await deployed();
  rmSync(join(cli.cwd, 'reactors/large'), { recursive: true });
  await cli.succeed(['pull'], { env: keys });
  expect(readFileSync(join(cli.cwd, 'reactors/large/code.js'), 'utf8')).toContain('bbbbbbbb');
  // The application of the tenant is pulled, too: the first push gives it its slug, and that alone.
  expect(await pushAll()).toMatchObject([
    { slug: 'bundles-demo', change: 'updated', members: ['slug'] },
    { slug: 'large', change: 'unchanged' },
  ]);
  expect(await deployed()).toEqual(before);
  expect((await pushAll()).map(({ change }) => change)).toEqual(['unchanged', 'unchanged']);
});

it('a bundle that does not compile is refused with its file', async () => {
  write('reactors/large/code.js', `module.exports = (;\n//${'x'.repeat(60_000)}`);
  const { code: exit, stderr } = await run(['push']);
  expect(exit).toBe(4);
  expect(stderr).toContain('reactors/large/code.js');
});
