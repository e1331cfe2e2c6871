import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOwnTenant } from '../own-tenant';
import { call, create, runningProduct } from '../product';
import { PackedCli, type Ended } from './packed';

const product = runningProduct();
const { baseUrl: url } = product;
/** Of a tenant of its own: what others make meanwhile would be pulled as well. */
let adminKey: string;
let keys: Readonly<Record<string, string>>;

let cli: PackedCli;
beforeAll(async () => {
  const tenant = await createOwnTenant('author');
  adminKey = tenant.management_key;
  keys = {
    GLOVEBOX_URL: url,
    GLOVEBOX_KEY: adminKey,
    GLOVEBOX_PRIVATE_KEY: tenant.private_key,
  };
  cli = new PackedCli();
  await cli.succeed(['init']);
});
afterAll(() => cli.remove());

const fileOf = (name: string): string => join(cli.cwd, name);
const run = (args: readonly string[], env = {}): Promise<Ended> =>
  cli.run(args, { env: { ...keys, ...env } });
const json = async (...args: string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await cli.succeed([...args, '--json'], { env: keys })) as Record<string, unknown>;
const push = async (...args: string[]): Promise<Record<string, string>> => {
  const { changes } = (await json('push', ...args)) as {
    changes: { kind: string; slug: string; change: string }[];
  };
  return Object.fromEntries(changes.map(({ kind, slug, change }) => [`${kind} ${slug}`, change]));
};

async function idOf(path: string, slug: string): Promise<string> {
  const { body } = await call('GET', `${url}${path}?slug=${slug}`, { key: adminKey });
  const [found] = body.data as { id: string }[];
  if (!found) throw new Error(`no ${slug}`);
  return found.id;
}

it('a folder is pushed as a whole, a second push changes nothing, and its reactor answers', async () => {
  expect(await push('--dry-run')).toEqual({ 'reactor hello': 'created', 'proxy echo': 'created' });
  expect((await run(['invoke', 'hello'])).code).toBe(4);
  expect(await push('-m', 'first')).toEqual({
    'reactor hello': 'created',
    'proxy echo': 'created',
  });
  expect(await push()).toEqual({ 'reactor hello': 'unchanged', 'proxy echo': 'unchanged' });
  expect((await run(['diff', '--exit-code'])).stdout).not.toMatch(/hello|echo/);
  expect(await json('invoke', 'hello', '--args', 'reactors/hello/args.json')).toEqual({
    raw: { hello: 'Ada', last4: '4242' },
  });
});

it('refused files change nothing, and are named with their lines', async () => {
  const file = fileOf('proxies/echo/proxy.yaml');
  const before = readFileSync(file, 'utf8');
  const code = fileOf('reactors/hello/code.ts');
  const good = readFileSync(code, 'utf8');
  writeFileSync(file, `${before}timeout_ms: 1\n`);
  writeFileSync(code, good.replace('greeting', 'other'));
  const refused = await run(['push']);
  writeFileSync(file, before);
  expect(refused).toMatchObject({ code: 4, stdout: '' });
  expect(refused.stderr).toMatch(/proxies\/echo\/proxy\.yaml:4:1: .*\(timeout_ms\)/);
  writeFileSync(code, good);
  expect(await push()).toEqual({ 'reactor hello': 'unchanged', 'proxy echo': 'unchanged' });
});

it('what was changed by hand meanwhile is a conflict, which is told apart, and writes nothing', async () => {
  const id = await idOf('/proxies', 'echo');
  const patched = await call('PATCH', `${url}/proxies/${id}`, {
    key: adminKey,
    body: { name: 'By hand' },
    headers: { 'Content-Type': 'application/merge-patch+json' },
  });
  expect(patched.status).toBe(204);
  const file = fileOf('reactors/hello/reactor.yaml');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, before.replace('name: Hello', 'name: Hello again'));
  const conflict = await run(['push']);
  expect(conflict).toMatchObject({ code: 6, stdout: '' });
  expect(conflict.stderr).toContain('proxy echo: name');
  expect(conflict.stderr).toContain('+ By hand');
  expect((await run(['diff'])).stdout).toMatch(/-name: Hello\n\+name: Hello again/);
  expect(conflict.stderr).toContain('`glovebox pull --force echo`');
  await cli.succeed(['pull', '--force', 'echo'], { env: keys });
  expect(readFileSync(fileOf('proxies/echo/proxy.yaml'), 'utf8')).toContain('name: By hand');
  // Code that is the same stays in the language of the author.
  expect(readFileSync(fileOf('proxies/echo/request.ts'), 'utf8')).toContain('RequestTransform');
  expect(readFileSync(file, 'utf8')).toContain('name: Hello again\n');
  const forced = await run(['pull', '--force']);
  expect(readFileSync(file, 'utf8')).toContain('name: Hello\n');
  const [, kept = ''] = /before is in (\S+)\.\n/.exec(forced.stderr) ?? [];
  const copy = readFileSync(fileOf(join(kept, 'reactors/hello/reactor.yaml')), 'utf8');
  expect(copy).toContain('name: Hello again\n');
});

it('no file outside of the folder is read, except for arguments that the user names', async () => {
  const outside = join(cli.cwd, '..', 'outside.json');
  writeFileSync(outside, '{"name":"outside"}');
  const args = fileOf('reactors/hello/args.json');
  const file = fileOf('reactors/hello/reactor.yaml');
  for (const [path, command] of [
    [args, ['dev', 'hello', '--once']],
    [file, ['push']],
  ] as const) {
    const before = readFileSync(path, 'utf8');
    rmSync(path);
    symlinkSync(outside, path);
    const refused = await run(command);
    rmSync(path);
    writeFileSync(path, before);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('leads out of the folder of the project');
  }
  const named = await run(['dev', 'hello', '--once', '--args', '../outside.json']);
  expect([named.code, named.stdout]).toEqual([0, expect.stringContaining('outside')]);
});

it('values of a configuration come from the environment, and are in no file and no output', async () => {
  const secret = 'a-value-that-nobody-sees';
  const file = fileOf('reactors/hello/reactor.yaml');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, `${before}configuration:\n  KEY: !env API_KEY\n`);
  const missing = await run(['push']);
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.stderr).toContain('the variable API_KEY is not set');
  const pushed = await run(['push'], { API_KEY: secret });
  expect(pushed.code).toBe(0);
  const empty = await run(['push'], { API_KEY: '' });
  expect(empty).toMatchObject({ code: 2, stdout: '' });
  const id = await idOf('/reactors', 'hello');
  const { body } = await call('GET', `${url}/reactors/${id}`, { key: adminKey });
  expect(body.configuration).toEqual({ KEY: secret });
  rmSync(fileOf('reactors/hello'), { recursive: true });
  const pulled = await run(['pull']);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('KEY: !keep');
  expect(pushed.stdout + pushed.stderr + pulled.stdout + pulled.stderr + text).not.toContain(
    secret,
  );
  expect(await push()).toMatchObject({ 'reactor hello': 'unchanged' });
});

it('pulling what others have made, and pushing it, gives it a slug and changes nothing else', async () => {
  const proxy = await create(
    product,
    '/proxies',
    {
      name: 'Made by a client!',
      destination_url: 'https://example.com/a',
      require_auth: false,
      configuration: { SECRET: 's' },
      response_transform: { code: 'module.exports = ({ args }) => args', runtime: 'node20' },
      request_transforms: [
        { type: 'append', options: { location: 'header', name: 'X-Shop', value: '7' } },
      ],
    },
    adminKey,
  );
  const shown = async (): Promise<Record<string, unknown>> => {
    const { body } = await call('GET', `${url}/proxies/${proxy.id}`, { key: adminKey });
    const { slug: _, modified_at: __, modified_by: ___, ...members } = body;
    return members;
  };
  const before = await shown();
  await cli.succeed(['pull'], { env: keys });
  expect(await push()).toMatchObject({ 'proxy made-by-a-client': 'updated' });
  expect(await shown()).toEqual(before);
  expect(await push()).toMatchObject({ 'proxy made-by-a-client': 'unchanged' });
});

describe('the members of forward mode, and destinations of rules', () => {
  const proxyFile = 'proxies/forward/proxy.yaml';
  const applicationFile = 'applications/billing.yaml';
  const match = { hosts: ['api.example.com', '*.example.com:8443'], methods: ['POST'] };
  const proxy = { match, forward_to: 'request', scrub: true };
  const destinations = ['api.example.com/v1'];
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:use'] };
  const ofBoth = { 'proxy forward': 'unchanged', 'application billing': 'unchanged' };
  const differing = async (): Promise<Record<string, string>> => {
    const { stdout } = await run(['diff', '--json']);
    const lines = stdout.split('\n').filter((line) => line !== '');
    const found = lines.map((line) => JSON.parse(line) as { slug: string; patch: string });
    return Object.fromEntries(found.map(({ slug, patch }) => [slug, patch]));
  };
  const shown = async (path: string, slug: string): Promise<unknown> => {
    const { body } = await call('GET', `${url}${path}?slug=${slug}`, { key: adminKey });
    return (body.data as unknown[])[0];
  };

  it('are deployed from files, and are the same in them', async () => {
    mkdirSync(fileOf('proxies/forward'));
    mkdirSync(fileOf('applications'), { recursive: true });
    const head = { name: 'Forward', destination_url: 'https://api.example.com/' };
    // JSON is YAML as well.
    writeFileSync(fileOf(proxyFile), JSON.stringify({ ...head, ...proxy }));
    const rules = [{ ...rule, destinations }];
    const application = { name: 'Billing', type: 'private', rules };
    writeFileSync(fileOf(applicationFile), JSON.stringify(application));
    expect(await push()).toMatchObject({
      'proxy forward': 'created',
      'application billing': 'created',
    });
    expect(await shown('/proxies', 'forward')).toMatchObject(proxy);
    expect(await shown('/applications', 'billing')).toMatchObject({ rules });
    expect(await push()).toMatchObject(ofBoth);
    const same = await differing();
    expect([same.forward, same.billing]).toEqual([undefined, undefined]);
  });

  it('are pulled as they are deployed, and diff shows what differs', async () => {
    const { id } = (await shown('/proxies', 'forward')) as { id: string };
    const patched = await call('PATCH', `${url}/proxies/${id}`, {
      key: adminKey,
      body: { match: { methods: ['PUT'], paths: ['/v2'] }, forward_to: null, scrub: false },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    });
    expect(patched.status).toBe(204);
    const before = readFileSync(fileOf(applicationFile), 'utf8');
    writeFileSync(fileOf(applicationFile), before.replace('example.com/v1', 'example.com/v3'));
    const { forward, billing } = await differing();
    for (const line of ['-    - PUT', '-    - /v2', '+forward_to: request', '+scrub: true']) {
      expect(forward).toContain(line);
    }
    expect(billing).toMatch(/-.*api\.example\.com\/v1\n\+.*api\.example\.com\/v3/);
    rmSync(fileOf('proxies/forward'), { recursive: true });
    rmSync(fileOf(applicationFile));
    await cli.succeed(['pull'], { env: keys });
    const text = readFileSync(fileOf(proxyFile), 'utf8');
    expect(text).toContain('/v2');
    expect(text).not.toMatch(/forward_to|scrub/);
    expect(readFileSync(fileOf(applicationFile), 'utf8')).toContain(destinations[0]);
    expect(await push()).toMatchObject(ofBoth);
  });
});

it('a second folder of the same name neither changes nor prunes what the first has deployed', async () => {
  await cli.succeed(['init', 'beside/work']);
  const cwd = fileOf('beside/work');
  const conflict = await cli.run(['push'], { cwd, env: keys });
  expect(conflict).toMatchObject({ code: 6, stdout: '' });
  const settings = readFileSync(fileOf('glovebox.yaml'), 'utf8');
  const [, project] = /^project: (work-[0-9a-f]{4})$/m.exec(settings) ?? [];
  expect(conflict.stderr).toContain(`proxy echo: deployed by the project ${project}`);
  rmSync(join(cwd, 'reactors'), { recursive: true });
  renameSync(join(cwd, 'proxies', 'echo'), join(cwd, 'proxies', 'beside'));
  const said = await cli.succeed(['push', '--prune', '--json'], { cwd, env: keys });
  const { changes } = JSON.parse(said) as { changes: { slug: string; change: string }[] };
  expect(changes.map(({ slug, change }) => [slug, change])).toEqual([['beside', 'created']]);
});

it('prune deletes what came from files that are gone, and nothing that was made by hand', async () => {
  const byHand = await create(
    product,
    '/proxies',
    { name: 'by hand', destination_url: 'https://example.com/' },
    adminKey,
  );
  rmSync(fileOf('proxies/echo'), { recursive: true });
  expect(await push()).not.toHaveProperty('proxy echo');
  expect(await push('--prune')).toMatchObject({ 'proxy echo': 'pruned' });
  const { body } = await call('GET', `${url}/proxies?slug=echo`, { key: adminKey });
  expect(body.data).toEqual([]);
  expect((await call('GET', `${url}/proxies/${byHand.id}`, { key: adminKey })).status).toBe(200);
});
