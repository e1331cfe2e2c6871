import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createAuthority } from '@glovebox/testing';
import { PackedCli, type Ended } from '../command-line/packed';
import { findProgram } from '../find-program';
import { createOwnTenant, type OwnTenant } from '../own-tenant';
import { call, runningProduct, scriptEnvironment } from '../product';
import { gitServer } from './forward-mode/git-server';
import { startLocalServer, type LocalServer } from './forward-mode/local-server';
import { searchProcesses, type SearchedProcess } from './forward-mode/process-memory';
import { startRecordedWay, type RecordedWay } from './forward-mode/recorded-way';
import { installed, keptFolder } from './installed';

// Packages, a runtime and a compiler are fetched and started at the first run.
jest.setTimeout(300_000);

const run = promisify(execFile);
const root = join(__dirname, '../..');
const programs = join(__dirname, 'forward-mode');
const product = runningProduct();

const secrets = {
  key: 'sk_live_51Hq8ZkXW0gR4mP7',
  account: 'acct_7Yw2NcVb93LtQ',
  card: '4485271936284017',
  password: 'ghp_w9KfT2xLq6Rz8',
};
type Tokens = Record<keyof typeof secrets, string>;
const expression = (id: string): string => `{{ ${id} }}`;

interface Charged {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

const authority = createAuthority();
let cli: PackedCli;
let tenant: OwnTenant;
let tokens: Tokens;
let way: RecordedWay;
let servers: LocalServer[];
let repositories: string;
/** What destinations got, and what was in the memory of the clients at that time. */
let charged: Charged[];
let searched: SearchedProcess[];
let clientPid: number | undefined;

beforeAll(async () => {
  cli = new PackedCli();
  way = await startRecordedWay(product.forwardUrl);
  repositories = mkdtempSync(join(tmpdir(), 'glovebox-repositories-'));
  servers = await Promise.all([
    startLocalServer(charge, authority),
    startLocalServer(charge),
    startLocalServer(payments, authority),
    startLocalServer(watched(gitServer(repositories, secrets.password)), authority),
  ]);
  tenant = await createOwnTenant('foreign clients');
  const names = Object.keys(secrets) as (keyof typeof secrets)[];
  const stored = names.map(async (name) => {
    const body = { type: 'token', data: secrets[name] };
    return [name, String((await made('/tokens', body, tenant.private_key)).id)] as const;
  });
  tokens = Object.fromEntries(await Promise.all(stored)) as Tokens;
  await made('/applications', {
    ...{ name: 'Agent', slug: 'agent', type: 'private', permissions: ['token:use'] },
  });
  const hosts = ['shop.example', 'http://shop.example', 'api.stripe.com', 'git.example'];
  for (const [at, host] of hosts.entries()) {
    const url = servers[at]?.url ?? '';
    await made('/proxies', {
      ...{ name: host, destination_url: url, match: { hosts: [host] }, scrub: true },
      ...(url.startsWith('https:') ? { certificate_authority: authority.ca } : {}),
    });
  }
  const env = {
    SHOP_KEY: expression(tokens.key),
    SHOP_ACCOUNT: expression(tokens.account),
    SHOP_CARD: expression(tokens.card),
    STRIPE_API_KEY: expression(tokens.key),
    GIT_CREDENTIAL: expression(`${tokens.password} | prepend: 'agent:' | to_base64`),
  };
  const settings = { version: 1, run: { application: 'agent' }, env };
  writeFileSync(join(cli.cwd, 'glovebox.yaml'), JSON.stringify(settings));
});
afterAll(async () => {
  cli.remove();
  rmSync(repositories, { recursive: true });
  await Promise.all([way.close(), ...servers.map((server) => server.close())]);
});
beforeEach(() => {
  charged = [];
  searched = [];
  way.take();
});

async function made(path: string, body: object, key = tenant.management_key) {
  const answer = await call('POST', `${product.baseUrl}${path}`, { key, body });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Searches the client while it waits for its answer. */
function watched(listener: Listener): Listener {
  return (request, response) => {
    if (clientPid !== undefined) searched.push(...searchProcesses(clientPid, inMemory()));
    listener(request, response);
  };
}

const credential = Buffer.from(`agent:${secrets.password}`).toString('base64');
const inMemory = (): string[] => [...Object.values(secrets), credential, ...Object.values(tokens)];

async function received(request: IncomingMessage): Promise<Charged> {
  const { url = '', headers } = request;
  const one = { url, authorization: headers.authorization, body: await text(request) };
  charged.push(one);
  return one;
}

/** Repeats all that it was sent, and cuts its second answer within a value. */
function charge(request: IncomingMessage, response: ServerResponse): void {
  void received(request).then((got) =>
    watched(() => {
      const body = JSON.stringify({
        ...got,
        card: (JSON.parse(got.body) as { card: string }).card,
      });
      response.setHeader('content-type', 'application/json');
      response.setHeader('x-charged-with', got.authorization ?? '');
      response.statusCode = 201;
      if (!got.url.startsWith('/stream')) {
        response.setHeader('content-length', body.length).end(body);
        return;
      }
      const within = body.indexOf(secrets.card) + 7;
      response.write(body.slice(0, within), () => response.end(body.slice(within)));
    })(request, response),
  );
}

/** Answers as the API of Stripe does, as far as the client asks here. */
function payments(request: IncomingMessage, response: ServerResponse): void {
  void received(request).then((got) =>
    watched(() => {
      const { searchParams, pathname } = new URL(got.url, 'https://api.stripe.com');
      const id = 'ch_1';
      const description = new URLSearchParams(got.body).get('description');
      const message = `No such charge for ${got.authorization}`;
      const customer = searchParams.get('customer');
      const [status, body] =
        pathname === '/v1/charges/ch_none'
          ? [404, { error: { type: 'invalid_request_error', message } }]
          : request.method === 'POST'
            ? [200, { id, object: 'charge', description }]
            : [200, { object: 'list', data: [{ id, object: 'charge', customer }] }];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })(request, response),
  );
}

/** Runs a command through forward mode, as its user would. */
async function through(command: readonly string[], env = {}): Promise<Ended> {
  const child = cli.start(['run', '--', ...command], {
    env: {
      ...{ GLOVEBOX_URL: product.baseUrl, GLOVEBOX_KEY: tenant.management_key },
      ...{ GLOVEBOX_FORWARD_URL: way.url, ...env },
    },
  });
  clientPid = child.pid;
  child.stdin?.end();
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map(said));
  const [code] = (await closed) as [number | null];
  clientPid = undefined;
  return { code, stdout: stdout ?? '', stderr: stderr ?? '' };
}

const said = (stream: NodeJS.ReadableStream | null): string | Promise<string> =>
  stream === null ? '' : text(stream);

/** Each client had its expressions, and no process of it ever had a value. */
function expectKept({ stdout, stderr }: Ended): void {
  for (const secret of Object.values(secrets)) expect(stdout + stderr).not.toContain(secret);
  expect(searched.length).toBeGreaterThan(0);
  const held = new Set(searched.flatMap(({ found }) => found));
  expect(held).toEqual(new Set(Object.values(tokens)));
}

interface Told {
  readonly status: number;
  readonly chargedWith: string;
  readonly body: Record<string, string>;
}

const toldInLines = ({ stdout }: Ended): Told[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Told);

const headAndBody =
  /HTTP\/1\.1 (\d+)(?:(?!HTTP\/)[^])*?x-charged-with: (.*?)\r?\n(?:(?!HTTP\/)[^])*?(\{.*\})/gi;

/** Of a program that shows each answer as it came. */
const toldAsTheyCame = ({ stdout }: Ended): Told[] =>
  [...stdout.matchAll(headAndBody)].map(([, status, chargedWith = '', body = '']) => ({
    ...{ status: Number(status), chargedWith },
    body: JSON.parse(body) as Record<string, string>,
  }));

const curl = (): string => findProgram('curl', 'CURL', 'curl');
const wget = (): string => findProgram('wget', 'WGET', 'wget');
const program = (name: string): string => join(programs, name);

async function runtime(name: string): Promise<string> {
  const folder = join(root, 'apps/runner/runtimes', name);
  const code = `import { fetchRuntime } from './tools/lib/install.mjs'; await fetchRuntime(process.argv[1])`;
  await run(process.execPath, ['--input-type=module', '-e', code, folder], { cwd: root });
  return join(folder, 'node_modules', process.arch, 'bin/node');
}

async function python(needs: string): Promise<string> {
  const found = findProgram('python3', 'PYTHON', 'python3');
  await run(found, ['-c', `import ${needs}`]).catch(() => {
    throw new Error(`This test needs ${needs} in ${found}: apt-get install python3-${needs}`);
  });
  return found;
}

/** Compiled, so that the compiler does not take the place of the client. */
async function goProgram(): Promise<string> {
  const go = findProgram('go', 'GO', 'golang-go');
  const made = join(keptFolder, 'net_http');
  mkdirSync(keptFolder, { recursive: true });
  const env = {
    ...scriptEnvironment(),
    CGO_ENABLED: '0',
    GOCACHE: join(keptFolder, 'go'),
    GOFLAGS: '',
  };
  await run(go, ['build', '-o', made, program('net_http.go')], { env });
  return made;
}

interface Client {
  readonly command: (url: string) => string[] | Promise<string[]>;
  readonly told?: (ended: Ended) => Told[];
  /** Connections to forward mode for two calls, in https and in http. */
  readonly connections: readonly [https: number, http: number];
  /** What it offers by ALPN. */
  readonly offered: readonly string[] | undefined;
  /** Asks for a tunnel in http as well. */
  readonly tunnelsAlways?: true;
}

const h2 = ['h2', 'http/1.1'];
const h1 = ['http/1.1'];

const onNode =
  (name: string, file: string, ...packages: [name: string, version: string][]) =>
  async (url: string): Promise<string[]> => [
    ...[await runtime(name), program(file), url],
    ...(await Promise.all(packages.map((each) => installed(...each)))),
  ];

const clients: Record<string, Client> = {
  curl: {
    command: (url) => ['sh', program('curl.sh'), curl(), url],
    told: toldAsTheyCame,
    ...{ connections: [1, 1], offered: h2 },
  },
  wget: {
    command: (url) => ['sh', program('wget.sh'), wget(), url],
    told: toldAsTheyCame,
    ...{ connections: [2, 2], offered: undefined },
  },
  'fetch of Node 24': {
    command: onNode('node24', 'fetch.mjs'),
    ...{ connections: [2, 2], offered: h1, tunnelsAlways: true },
  },
  'node:http and node:https of Node 24': {
    command: onNode('node24', 'node-http.mjs'),
    ...{ connections: [1, 1], offered: undefined },
  },
  'axios on Node 20': {
    command: onNode('node20', 'axios.mjs', ['axios', '1.21.1']),
    ...{ connections: [2, 1], offered: undefined },
  },
  'axios on Node 24': {
    command: onNode('node24', 'axios.mjs', ['axios', '1.21.1']),
    ...{ connections: [1, 1], offered: undefined },
  },
  'urllib of Python': {
    command: async (url) => [await python('json'), program('urllib_client.py'), url],
    ...{ connections: [2, 2], offered: h1 },
  },
  'requests of Python': {
    command: async (url) => [await python('requests'), program('requests_client.py'), url],
    ...{ connections: [1, 1], offered: h1 },
  },
  'net/http of Go': {
    command: async (url) => [await goProgram(), url],
    ...{ connections: [1, 1], offered: h2 },
  },
};

describe.each(Object.entries(clients))('%s', (_, client) => {
  const { command, told = toldInLines, connections, offered, tunnelsAlways = false } = client;
  it.each(['https', 'http'])(
    'sends data that it never has, and understands the answers, by %s',
    async (scheme) => {
      const ended = await through(await command(`${scheme}://shop.example`));
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      const { key, account, card } = tokens;
      const calls = ['/charge', '/stream'];
      expect(charged.map(({ url, ...got }) => ({ ...got, url: decodeURIComponent(url) }))).toEqual(
        calls.map((path) => ({
          url: `${path}?account=${secrets.account}`,
          authorization: `Bearer ${secrets.key}`,
          body: expect.stringMatching(new RegExp(`^{"card": ?"${secrets.card}"}$`)) as string,
        })),
      );
      const authorization = `Bearer ${expression(key)}`;
      expect(told(ended)).toEqual(
        calls.map((path) => ({
          status: 201,
          chargedWith: authorization,
          body: {
            ...{ authorization, card: expression(card), url: expect.anything() as string },
            ...{ url: `${path}?account=${expression(account)}` },
            body: expect.stringContaining(expression(card)) as string,
          },
        })),
      );
      expectKept(ended);
      const made = way.take();
      const isTls = scheme === 'https';
      expect(made.map(({ connects }) => connects.length > 0)).toEqual(
        Array.from({ length: connections[isTls ? 0 : 1] }, () => isTls || tunnelsAlways),
      );
      expect(made.map((each) => each.offered)).toEqual(
        made.map(() => (isTls ? offered : undefined)),
      );
    },
  );
});

it('fetch of Node 20 does not read the variables, and reaches nobody', async () => {
  const { code, stderr } = await through(
    await onNode('node20', 'fetch.mjs')('https://shop.example'),
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining('fetch failed')]);
  expect([charged, way.take()]).toEqual([[], []]);
});

it('a client whose key is wrong is told 407', async () => {
  const command = `${curl()} --silent --show-error --proxy "$GLOVEBOX_FORWARD_URL" https://shop.example`;
  const { code, stderr } = await through(['sh', '-c', command]);
  expect([code, stderr]).toEqual([56, expect.stringContaining('response 407')]);
});

describe('stripe-node', () => {
  const stripe = async (...more: string[]): Promise<Ended> => {
    const place = await installed('stripe', '23.1.0');
    return through([await runtime('node24'), program('stripe.mjs'), place, ...more]);
  };

  it('with its client of fetch charges with a key that it never has, and understands the answers', async () => {
    const ended = await stripe('fetch');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const authorization = `Bearer ${secrets.key}`;
    const description = `description=${secrets.card}`;
    expect(charged).toMatchObject([
      { url: '/v1/charges', authorization, body: expect.stringContaining(description) as string },
      { url: `/v1/charges?customer=${secrets.account}`, authorization },
      { url: '/v1/charges/ch_none', authorization },
    ]);
    expect(JSON.parse(ended.stdout)).toEqual({
      made: ['ch_1', expression(tokens.card), 200],
      listed: [expression(tokens.account)],
      refused: [
        ...['StripeInvalidRequestError', 404],
        `No such charge for Bearer ${expression(tokens.key)}`,
      ],
    });
    expectKept(ended);
  });

  it('with its usual client has an agent of its own, which no variable leads through a proxy', async () => {
    const { code, stderr } = await stripe();
    expect([code, stderr]).toEqual([1, expect.stringContaining('StripeConnectionError')]);
    expect([charged, way.take()]).toEqual([[], []]);
  });
});

describe('git', () => {
  it('clones and pushes with a credential that it never has', async () => {
    const bare = join(repositories, 'shop.git');
    const source = join(repositories, 'source');
    const git = async (...args: string[]): Promise<string> => {
      const identity = ['-c', 'user.name=Shop', '-c', 'user.email=shop@shop.example'];
      return (await run('git', [...identity, ...args])).stdout;
    };
    await git('init', '--quiet', '--initial-branch=main', source);
    writeFileSync(join(source, 'README'), 'of the shop\n');
    await git('-C', source, 'add', 'README');
    await git('-C', source, 'commit', '--quiet', '--message=first');
    await git('clone', '--quiet', '--bare', source, bare);
    await git('-C', bare, 'config', 'http.receivepack', 'true');
    const ended = await through(['sh', program('git.sh'), 'https://git.example/shop.git']);
    expect(ended).toEqual({ code: 0, stdout: 'of the shop\n', stderr: '' });
    expect(await git('-C', bare, 'log', '--format=%an %s', 'main')).toBe(
      'Agent large\nShop first\n',
    );
    expect(await git('-C', bare, 'cat-file', '-s', 'main:large')).toBe('3000000\n');
    expectKept(ended);
    const made = way.take();
    // It asks without its key first, and again when it is told 407.
    const asked = made.flatMap(({ connects }) => connects).map((head) => /^Proxy-Auth/m.test(head));
    expect(asked.slice(0, 2)).toEqual([false, true]);
    const offers = made.flatMap(({ offered }) => (offered ? [offered] : []));
    expect(offers.length).toBeGreaterThan(0);
    expect(offers).toEqual(offers.map(() => h2));
  });

  it('without the credential is refused', async () => {
    const url = 'https://git.example/shop.git';
    const { code, stderr } = await through(['git', 'ls-remote', url], {
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_GLOBAL: '/dev/null',
    });
    expect([code, stderr]).toEqual([128, expect.stringContaining('could not read Username')]);
  });
});
