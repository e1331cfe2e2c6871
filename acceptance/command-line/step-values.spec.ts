import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOwnTenant } from '../own-tenant';
import { call, runningProduct } from '../product';
import { PackedCli, type Ended } from './packed';

const { baseUrl: url } = runningProduct();
const secrets = { env: 'a-value-of-the-environment', file: 'a-value-of-a-file' };
let keys: Readonly<Record<string, string>>;

let cli: PackedCli;
const fileOf = (name: string): string => join(cli.cwd, name);
const proxyFile = 'proxies/bank/proxy.yaml';
beforeAll(async () => {
  const { management_key: key } = await createOwnTenant('values of steps');
  keys = { GLOVEBOX_URL: url, GLOVEBOX_KEY: key };
  cli = new PackedCli();
  mkdirSync(fileOf('proxies/bank'), { recursive: true });
  mkdirSync(fileOf('secrets'));
  writeFileSync(fileOf('glovebox.yaml'), 'version: 1\n');
  writeFileSync(fileOf('secrets/key'), `${secrets.file}\n`);
});
afterAll(() => cli.remove());

const head = `name: Bank
destination_url: https://bank.example/pay
request_transforms:
`;
const header = (value: string): string =>
  `  - { type: append, options: { location: header, name: X-Key, value: ${value} } }\n`;
const inBody = (value: string): string =>
  `  - { type: append, options: { location: body, path: $.shop, value: ${value} } }\n`;
const open = '  - { type: append, options: { location: query, name: shop, value: "7" } }\n';

const write = (...steps: string[]): void => writeFileSync(fileOf(proxyFile), head + steps.join(''));
const run = (args: readonly string[], env = {}): Promise<Ended> =>
  cli.run(args, { env: { ...keys, ...env } });

async function push(env = {}): Promise<unknown> {
  const { code, stdout, stderr } = await run(['push', '--json'], env);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('✗')]);
  expect(stdout + stderr).not.toContain('a-value-of');
  const { changes } = JSON.parse(stdout) as { changes: { slug: string; change: string }[] };
  return changes.find(({ slug }) => slug === 'bank')?.change;
}

async function storedValues(): Promise<unknown[]> {
  const { body } = await call('GET', `${url}/proxies?slug=bank`, { key: keys.GLOVEBOX_KEY ?? '' });
  const [proxy] = body.data as { request_transforms: { options: { value: unknown } }[] }[];
  return proxy?.request_transforms.map(({ options }) => options.value) ?? [];
}

it('come from the environment and from files of the folder, and stay as they are stored', async () => {
  write(header('!env BANK_KEY'), inBody('{ id: 7, keys: [!file secrets/key] }'), open);
  expect(await run(['push'])).toMatchObject({ code: 2, stdout: '' });
  const env = { BANK_KEY: secrets.env };
  expect(await push(env)).toBe('created');
  const stored = [secrets.env, { id: 7, keys: [secrets.file] }, '7'];
  expect(await storedValues()).toEqual(stored);
  expect(await push(env)).toBe('unchanged');
  expect((await run(['diff'])).stdout).not.toContain('proxy bank');

  write(header('!keep'), inBody('!keep'), open);
  expect(await push()).toBe('unchanged');
  expect(await storedValues()).toEqual(stored);
});

it('are tried as they are stored, and are not shown', async () => {
  write(header('!keep'), inBody('!env SHOP'), open);
  writeFileSync(
    fileOf('proxies/bank/call.json'),
    '{"request": {"headers": {"content-type": "application/json"}, "body": "{}"}}',
  );
  const env = { ...keys, SHOP: 'nine' };
  const stdout = await cli.succeed(['dev', 'bank', '--once', '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'completed',
    request: {
      url: 'https://bank.example/pay?shop=7',
      headers: { 'x-key': '[redacted]' },
      body: '{"shop":"nine"}',
    },
  });
});

it('are written by pull as what they are found by, and never as values', async () => {
  write(header('!env BANK_KEY'), inBody('!file secrets/key'), open.replace('"7"', '"8"'));
  expect((await run(['diff'])).stdout).toMatch(/-.*value: "7"\n\+.*value: "8"/);
  await cli.succeed(['pull', '--force'], { env: keys });
  const written = readFileSync(fileOf(proxyFile), 'utf8');
  expect(written).toContain('value: !env BANK_KEY');
  expect(written).toContain('value: !file secrets/key');
  expect(written).toContain('value: "7"');

  rmSync(fileOf('proxies'), { recursive: true });
  const { code, stdout } = await run(['pull']);
  const fresh = readFileSync(fileOf(proxyFile), 'utf8');
  expect([code, fresh.match(/value: !keep/g)?.length]).toEqual([0, 3]);
  expect(stdout + fresh).not.toContain('a-value-of');
  expect(await push()).toBe('unchanged');
});

it('that cannot be found are told with their line, and nothing is sent', async () => {
  symlinkSync('/etc/passwd', fileOf('secrets/elsewhere'));
  writeFileSync(fileOf('secrets/large'), 'x'.repeat(64 * 1024 + 1));
  writeFileSync(fileOf('secrets/binary'), Buffer.from([0xff, 0xfe]));
  const nowhere = { GLOVEBOX_URL: 'http://127.0.0.1:9', GLOVEBOX_KEY: 'key_of_nobody' };
  const mistakes: readonly (readonly [steps: string, said: string])[] = [
    [header('!file secrets/elsewhere'), ':4:63: the file must be in the folder of the project'],
    [header('!file ../../../etc/passwd'), ':4:63: the file must be in the folder'],
    [header('!file secrets'), ':4:63: secrets is no file'],
    [header('!file secrets/none'), ':4:63: there is no such file'],
    [header('!file secrets/large'), ':4:63: secrets/large has more than 65536 bytes'],
    [header('!file secrets/binary'), ':4:63: secrets/binary is no UTF-8'],
    [inBody('{ part: !keep }'), ':4:71: !keep cannot stand here'],
    ['timeout_ms: !env TIMEOUT\n', ':4:1: !env cannot stand here'],
  ];
  for (const [steps, said] of mistakes) {
    write(steps);
    const ended = await cli.run(['push'], { env: nowhere });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(proxyFile + said);
  }
});

it('that are kept need a stored one at the same place', async () => {
  write(header('!keep').replace('X-Key', 'X-Other'));
  const { code, stderr } = await run(['push']);
  expect(code).toBe(4);
  expect(stderr).toMatch(/proxies\/bank\/proxy\.yaml:4:\d+: .*no stored step/);
});
