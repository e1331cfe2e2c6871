import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createOwnTenant, type OwnTenant } from '../own-tenant';
import { call, runningProduct, until } from '../product';
import { PackedCli, type RunOptions } from './packed';

const product = runningProduct();
const url = product.baseUrl;
const secret = 'sk_live_of_the_shop';

/** A client that knows its variables alone. It writes down what it saw, and ends with 7. */
const client = `
const { request } = require('node:http');
const { writeFileSync } = require('node:fs');
const { connect } = require('node:tls');
const proxy = new URL(process.env.HTTPS_PROXY);
const name = Buffer.from(proxy.username + ':' + proxy.password).toString('base64');
const headers = { 'Proxy-Authorization': 'Basic ' + name };
const { hostname: host, port } = proxy;
request({ host, port, method: 'CONNECT', path: 'shop.example:443', headers })
  .on('connect', (_, socket) => {
    let answer = '';
    const inner = connect({ socket, servername: 'shop.example' }, () => {
      const lines = ['GET /charge HTTP/1.1', 'Host: shop.example', 'Connection: close'];
      lines.push('Authorization: Bearer ' + process.env.SHOP_KEY, '', '');
      inner.write(lines.join('\\r\\n'));
    });
    inner.setEncoding('utf8').on('data', (text) => (answer += text)).on('end', () => {
      writeFileSync('seen.json', JSON.stringify({ answer, env: process.env, argv: process.argv }));
      process.exit(7);
    });
  })
  .end();
`;

let cli: PackedCli;
let tenant: OwnTenant;
let destination: Server;
let withKey: RunOptions;
const seen: unknown[] = [];

beforeAll(async () => {
  cli = new PackedCli();
  tenant = await createOwnTenant('agents');
  const env = { GLOVEBOX_URL: url, GLOVEBOX_KEY: tenant.management_key };
  withKey = { env: { ...env, GLOVEBOX_FORWARD_URL: product.forwardUrl } };
  destination = createServer((request, response) => {
    seen.push([request.url, request.headers.authorization]);
    response.end(`charged with ${request.headers.authorization}`);
  }).listen(0, '127.0.0.1');
  await once(destination, 'listening');
  const { port } = destination.address() as AddressInfo;
  const made = async (path: string, body: object, key = tenant.management_key) => {
    const answer = await call('POST', `${url}${path}`, { key, body });
    expect([path, answer.status, answer.text]).toEqual([path, 201, expect.anything()]);
    return answer.body;
  };
  const token = await made('/tokens', { type: 'token', data: secret }, tenant.private_key);
  await made('/applications', {
    ...{ name: 'Agent', slug: 'agent', type: 'private', permissions: ['token:use'] },
  });
  await made('/proxies', {
    name: 'Shop',
    destination_url: `http://127.0.0.1:${port}`,
    match: { hosts: ['shop.example'] },
    scrub: true,
  });
  write('client.cjs', client);
  write(
    'glovebox.yaml',
    `run: { application: agent }\nenv: { SHOP_KEY: '{{ ${String(token.id)} }}' }\n`,
  );
});
afterAll(async () => {
  cli.remove();
  destination.closeAllConnections();
  await new Promise((done) => destination.close(done));
});

const fileOf = (name: string): string => join(cli.cwd, name);
const write = (name: string, text: string): void => writeFileSync(fileOf(name), text);

async function lent(): Promise<unknown[]> {
  const { body } = await call('GET', `${url}/applications`, { key: tenant.management_key });
  const { data } = body as { data: readonly { name: string; expires_at?: string }[] };
  return data.filter(({ name }) => name.startsWith('glovebox run'));
}

it('a command uses a secret that it never has, with a key that ends with it', async () => {
  const { code, stderr } = await cli.run(['run', '--', 'node', 'client.cjs'], withKey);
  expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
  expect(seen).toEqual([['/charge', `Bearer ${secret}`]]);
  const text = readFileSync(fileOf('seen.json'), 'utf8');
  expect(text).not.toContain(secret);
  expect(text).not.toContain(tenant.management_key);
  const { env, answer } = JSON.parse(text) as { env: Record<string, string>; answer: string };
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*charged with Bearer \{\{ .* \}\}$/s);
  expect(env.SHOP_KEY).toMatch(/^\{\{ .* \}\}$/);
  expect(env.NO_PROXY).toContain('127.0.0.1');
  const { CURL_CA_BUNDLE: file = '' } = env;
  for (const name of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE']) {
    expect(env[name]).toBe(file);
  }
  expect(existsSync(file)).toBe(false);
  expect(await lent()).toEqual([]);
  const { password: key } = new URL(env.HTTPS_PROXY ?? '');
  const after = await call('GET', `${url}/applications/key`, { key });
  expect(after.status).toBe(401);
});

it('a command that is interrupted ends, and its key with it', async () => {
  const args = ['run', '--as', 'agent', '--', 'node', '-e', 'setInterval(() => {}, 1000)'];
  const child = cli.start(args, withKey);
  await until(async () => (await lent()).length === 1);
  const [{ expires_at } = {}] = (await lent()) as { expires_at?: string }[];
  const minutes = (Date.parse(expires_at ?? '') - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(10);
  expect(minutes).toBeLessThan(16);
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(143);
  expect(await lent()).toEqual([]);
});

it('a key goes where there is no folder for the authorities', async () => {
  const env = { ...withKey.env, TMPDIR: fileOf('no-such-folder') };
  const { code, stderr } = await cli.run(['run', '--as', 'agent', '--', 'node'], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining('no-such-folder')]);
  expect(await lent()).toEqual([]);
});

it('no key is lent of an application that has expired, and none outlasts its application', async () => {
  const { body } = await call('GET', `${url}/applications?slug=agent`, {
    key: tenant.management_key,
  });
  const [{ id } = { id: '' }] = body.data as readonly { id: string }[];
  const endsAt = async (expires_at: string | null): Promise<void> => {
    const change = { key: tenant.management_key, body: { expires_at } };
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const { status } = await call('PATCH', `${url}/applications/${id}`, { ...change, headers });
    expect(status).toBe(204);
  };
  const soon = new Date(Date.now() + 300_000).toISOString();
  await endsAt(soon);
  const args = ['run', '--as', 'agent', '--', 'node', '-e', 'setInterval(() => {}, 1000)'];
  const child = cli.start(args, withKey);
  await until(async () => (await lent()).length === 1);
  expect(await lent()).toMatchObject([{ expires_at: soon }]);
  child.kill('SIGHUP');
  expect(await once(child, 'exit')).toEqual([129, null]);
  await endsAt('2020-01-01T00:00:00Z');
  const { code, stderr } = await cli.run(args, withKey);
  expect([code, stderr]).toEqual([4, expect.stringContaining('"agent" expired at 2020-01-01')]);
  await endsAt(null);
  expect(await lent()).toEqual([]);
});

it.each([
  ['a program that is not there', ['--as', 'agent', '--', 'no-such-program'], 2, /not found/],
  ['an application that is not there', ['--as', 'nobody', '--', 'node'], 4, /no application/],
  ['no URL', ['--forward', 'nowhere', '--', 'node'], 2, /no URL/],
])('%s is told, and nothing stays behind', async (_, args, exit, told) => {
  const { code, stderr } = await cli.run(['run', ...args], withKey);
  expect(code).toBe(exit);
  expect(stderr).toMatch(told);
  expect(await lent()).toEqual([]);
});

it.each([
  ['HTTPS_PROXY: "{{ a }}"', 'sets this variable itself'],
  ['SHOP_KEY: sk_live_in_a_file', 'must be a text with an expression'],
  ['"A B": "{{ a }}"', 'no name of a variable'],
])('env: { %s } is refused before anything is sent', async (entry, told) => {
  const before = readFileSync(fileOf('glovebox.yaml'), 'utf8');
  write('glovebox.yaml', `run: { application: agent }\nenv: { ${entry} }\n`);
  const { code, stderr } = await cli.run(['run', '--', 'node', '-e', '0'], withKey);
  write('glovebox.yaml', before);
  expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
});
