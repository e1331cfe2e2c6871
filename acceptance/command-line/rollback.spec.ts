import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createOwnTenant } from '../own-tenant';
import { call, create, runningProduct } from '../product';
import { PackedCli, type Ended } from './packed';

const product = runningProduct();
const { baseUrl: url } = product;
let env: Readonly<Record<string, string>>;
let adminKey: string;

let cli: PackedCli;
beforeAll(async () => {
  const tenant = await createOwnTenant('rolls back');
  adminKey = tenant.management_key;
  env = { GLOVEBOX_URL: url, GLOVEBOX_KEY: adminKey };
  cli = new PackedCli();
  writeFileSync(join(cli.cwd, 'glovebox.yaml'), 'version: 1\n');
});
afterAll(() => cli.remove());

const run = (...args: string[]): Promise<Ended> => cli.run(args, { env });

/** Puts a proxy of this name in force. */
async function deploy(name: string, slug = 'bank', project?: string): Promise<string> {
  const proxy = { kind: 'proxy', slug, destination_url: 'https://bank.example' };
  const answer = await call('POST', `${url}/deployments`, {
    key: adminKey,
    body: { message: `named ${name}`, project, items: [{ ...proxy, name }] },
  });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return String(answer.body.id);
}

async function inForce(slug = 'bank'): Promise<{ readonly id: string; readonly name: string }> {
  const { body } = await call('GET', `${url}/proxies?slug=${slug}`, { key: adminKey });
  const [proxy] = body.data as { id: string; name: string }[];
  if (!proxy) throw new Error('no proxy');
  return proxy;
}

const expectName = async (name: string): Promise<void> =>
  expect(await inForce()).toMatchObject({ name });

it('nothing to return to ends with 2, and says so', async () => {
  expect(await run('deployments')).toMatchObject({ code: 0, stdout: '' });
  const none = await run('rollback');
  expect(none).toMatchObject({ code: 2, stdout: '' });
  expect(none.stderr).toContain('There is no deployment before');
});

describe('with three deployments', () => {
  let ids: readonly [string, string, string];
  beforeAll(async () => {
    ids = [await deploy('one'), await deploy('two'), await deploy('three')];
  });

  it('a dry run says what would change, and changes nothing', async () => {
    const { stdout } = await run('rollback', '--dry-run');
    expect(stdout).toContain(`Back to ${ids[1]}`);
    expect(stdout).toContain('~ proxy bank updated (name)');
    await expectName('three');
  });

  it('without an id each rollback goes one further back, until there is none before', async () => {
    expect((await run('rollback', '-m', 'three is bad')).code).toBe(0);
    await expectName('two');
    expect((await run('rollback')).code).toBe(0);
    await expectName('one');
    expect(await run('rollback')).toMatchObject({ code: 2, stdout: '' });
  });

  it('an id names the deployment to return to, and the list shows what led where', async () => {
    const [one, two, three] = ids;
    const back = await run('rollback', three, '--json');
    expect(JSON.parse(back.stdout)).toMatchObject({ dry_run: false, rollback_of: three });
    await expectName('three');
    const listed = (await run('deployments', '--json')).stdout.trim().split('\n');
    const shown = listed.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(shown.map(({ rollback_of, message }) => [rollback_of, message])).toEqual([
      [three, undefined],
      [one, undefined],
      [two, 'three is bad'],
      [undefined, 'named three'],
      [undefined, 'named two'],
      [undefined, 'named one'],
    ]);
    const { stdout } = await run('deployments', '-n', '3');
    expect(stdout.trim().split('\n')).toHaveLength(3);
    expect(stdout).toContain(`back to ${two}, three is bad`);
  });

  it('a conflict writes nothing and ends with 6, unless it is forced', async () => {
    const { id } = await inForce();
    const patched = await call('PATCH', `${url}/proxies/${id}`, {
      key: adminKey,
      body: { name: 'By hand' },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    });
    expect(patched.status).toBe(204);
    const conflict = await run('rollback');
    expect(conflict).toMatchObject({ code: 6, stdout: '' });
    expect(conflict.stderr).toContain('proxy bank: name');
    await expectName('By hand');
    expect((await run('rollback', '--force')).code).toBe(0);
    await expectName('two');
  });

  it('a key that may deploy and nothing else rolls back by an id', async () => {
    const may = { name: 'deploys', type: 'management', permissions: ['deployment:create'] };
    const { key } = await create(product, '/applications', may, adminKey);
    const only = { env: { GLOVEBOX_URL: url, GLOVEBOX_KEY: String(key) } };
    expect(await cli.run(['rollback'], only)).toMatchObject({ code: 3, stdout: '' });
    expect(await cli.run(['rollback', ids[0]], only)).toMatchObject({ code: 0 });
    await expectName('one');
    expect(await run('rollback', 'nothing')).toMatchObject({ code: 4 });
  });
});

it('outside of a folder it asks whose deployment is meant, and takes the name of a project', async () => {
  const project = 'beside';
  await deploy('first', 'of-beside', project);
  await deploy('second', 'of-beside', project);
  const outside = { cwd: dirname(cli.cwd), env };
  const asked = await cli.run(['rollback'], outside);
  expect(asked).toMatchObject({ code: 2, stdout: '' });
  expect(asked.stderr).toContain('--project NAME');
  expect(await inForce('of-beside')).toMatchObject({ name: 'second' });
  expect(await cli.run(['rollback', '--project', project], outside)).toMatchObject({ code: 0 });
  expect(await inForce('of-beside')).toMatchObject({ name: 'first' });
});

it('what somebody deploys after the list was read is not undone', async () => {
  await deploy('before');
  const server = createServer((req, res) => {
    const passOn = (): void => {
      const { method, headers } = req;
      const onward = request(new URL(req.url ?? '/', url), { method, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, { 'Content-Type': 'application/json' });
        answer.pipe(res);
      });
      req.pipe(onward);
    };
    if (req.method === 'POST') void deploy('meanwhile').then(passOn);
    else passOn();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const there = { env: { ...env, GLOVEBOX_URL: `http://127.0.0.1:${port}` } };
  const late = await cli.run(['rollback', '--force'], there);
  server.close();
  expect(late).toMatchObject({ code: 6, stdout: '' });
  expect(late.stderr).toContain('glovebox deployments');
  await expectName('meanwhile');
});

it('the shell completes the commands and their options', async () => {
  expect((await run('complete', 'ro')).stdout).toBe('rollback\n');
  expect((await run('complete', 'rollback', '--d')).stdout).toBe('--dry-run\n');
  expect((await run('complete', 'dep')).stdout).toBe('deployments\n');
});
