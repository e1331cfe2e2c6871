import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { call, devFile, reactorOf, scriptEnvironment, type Product } from './product';

/**
 * Starts the whole product on machines that lack parts of what sandboxes can use. The lack is real:
 * a program is not on the PATH, the kernel denies namespaces, or there is no apt.
 */
type Machine = Product & {
  readonly sandboxes: string;
  readonly opsUrls: Readonly<Record<string, string>>;
};

const root = join(__dirname, '..');
const environment = scriptEnvironment();
const path = (environment.PATH ?? '').split(delimiter);
const start = [process.execPath, join(root, 'tools/start.mjs'), '--detach'];
/** Empty where the machine denies user namespaces: no start gets further than level 2 then. */
const bwrap = environment.TEST_BWRAP ?? 'none';
const withBubblewrap = bwrap === 'none' ? /^level 2, not 3: / : /^level 3$/;

let folder: string;
let bubblewrapFolder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'glovebox-bare-'));
  chmodSync(folder, 0o755);
  bubblewrapFolder = join(folder, 'bubblewrap');
  mkdirSync(bubblewrapFolder);
  symlinkSync(bwrap === 'none' ? '/bin/false' : bwrap, join(bubblewrapFolder, 'bwrap'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function productOf(file: string): Machine {
  return JSON.parse(readFileSync(file, 'utf8')) as Machine;
}

function run(
  [file = '', ...args]: readonly string[],
  state: string,
  more: Readonly<Record<string, string>> = {},
): Promise<{ stdout: string; stderr: string }> {
  const own = {
    GLOVEBOX_DIR: join(folder, state),
    GATEWAY_PORT: '0',
    MANAGEMENT_PORT: '0',
    CONSOLE_PORT: '0',
  };
  const env = { ...environment, ...own, ...more };
  return promisify(execFile)(file, args, { cwd: root, env, timeout: 100_000 });
}

async function started(
  command: readonly string[],
  state: string,
  more: Readonly<Record<string, string>>,
): Promise<Machine & { readonly output: string }> {
  const { stdout } = await run(command, state, more);
  const product = productOf(join(folder, state, 'dev.json'));
  expect(stdout).toContain(`Sandboxes         ${product.sandboxes}\n`);
  expect(await react(product)).toEqual({ raw: { sum: 5 } });
  return { ...product, output: stdout };
}

async function react(product: Product): Promise<unknown> {
  const id = await reactorOf(product, 'module.exports = async () => ({ raw: { sum: 2 + 3 } });');
  const url = `${product.baseUrl}/reactors/${id}/react`;
  return (await call('POST', url, { key: product.privateKey, body: { args: {} } })).body;
}

const stop = (state: string): Promise<unknown> =>
  run([process.execPath, join(root, 'tools/stop.mjs')], state);

it('the PATH of a bare machine leads to no program that somebody installed', () => {
  const isOn = (name: string): boolean => path.some((each) => existsSync(join(each, name)));
  const installed = [
    'bwrap',
    'redis-server',
    'postgres',
    'initdb',
    'psql',
    'gcc',
    'python3',
    'curl',
  ];
  // The PATH is made bare only where there is apt.
  expect(isOn('apt-get') ? installed.filter(isOn) : []).toEqual([]);
  expect(productOf(devFile()).sandboxes).toMatch(withBubblewrap);
});

describe('the product starts and runs code', () => {
  afterEach(() => stop('root'));

  it('with the bubblewrap that is on the PATH', async () => {
    const product = await started(start, 'root', {
      PATH: [bubblewrapFolder, ...path].join(delimiter),
    });
    expect(product.sandboxes).toMatch(withBubblewrap);
    if (bwrap !== 'none') expect(product.output).toContain(`(${join(bubblewrapFolder, 'bwrap')})`);
  });

  it('at level 2 where there is no bubblewrap', async () => {
    const { sandboxes } = await started(start, 'root', {
      PATH: pathWithoutApt(),
      // Redis would come from apt.
      REDIS_URL: `${environment.TEST_REDIS_URL}/14`,
    });
    expect(sandboxes).toMatch(
      bwrap === 'none' ? withBubblewrap : 'level 2, not 3: bubblewrap is not installed, nor apt',
    );
  });
});

it('the product starts and runs code at level 2 where the kernel denies user namespaces', async () => {
  // The limit is set in a new namespace; the machine keeps its limits.
  const script =
    'echo 1 > /proc/sys/user/max_user_namespaces && exec unshare --user --map-user=1000 "$@"';
  const denied = ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh', ...start];
  try {
    const { sandboxes } = await started(bwrap === 'none' ? start : denied, 'denied', {
      PATH: [bubblewrapFolder, ...path].join(delimiter),
    });
    // bubblewrap is there; the runner found out by trying it.
    expect(sandboxes).toMatch(/^level 2, not 3: (node16: |user namespaces are denied)/);
    if (bwrap !== 'none') expect(sandboxes).toContain('node16: bwrap: ');
  } finally {
    await stop('denied');
  }
});

it('the product starts without isolation for those who accept that, and warns at each start', async () => {
  const weak = { SANDBOX_LEVEL: '3', BWRAP: '/bin/false', SANDBOX_ALLOW_WEAK: 'true' };
  try {
    const { sandboxes, output, opsUrls } = await started(start, 'weak', weak);
    expect(sandboxes).toMatch(/^level 0 \(weak: code is not contained\), not 3: /);
    expect(output).toContain('WARNING: SANDBOX_ALLOW_WEAK is set');
    const health = await fetch(`${opsUrls['runner']}/health/ready`);
    expect(await health.json()).toMatchObject({ components: { sandbox: sandboxes } });
    const log = readFileSync(join(folder, 'weak', 'logs', 'runner.log'), 'utf8');
    expect(log).toMatch(/CUSTOMER CODE IS NOT CONTAINED/);
  } finally {
    await stop('weak');
  }
});

it('a start reports the error of an app that ends at once, without waiting for the others', async () => {
  const hopeless = { SANDBOX_LEVEL: '3', BWRAP: '/bin/false' };
  const { code, stdout, stderr } = await run(start, 'root', hopeless).then(
    (ended) => ({ code: 0, ...ended }),
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('no isolation holds on this machine') as string,
  });
  expect(stderr).toContain('runner ended (code 1)');
  expect(stdout.match(/✗ .*,/g)).toEqual(['✗ runner,']);
});

function pathWithoutApt(): string {
  const only = join(folder, 'without-apt');
  mkdirSync(only);
  for (const each of path.filter((name) => existsSync(name))) {
    for (const name of readdirSync(each)) {
      const link = join(only, name);
      if (!name.startsWith('apt') && !existsSync(link)) symlinkSync(join(each, name), link);
    }
  }
  return only;
}
