import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createOwnTenant, type OwnTenant } from '../own-tenant';
import { call, reactorOf, runningProduct, until, type Product } from '../product';
import { PackedCli, type Ended } from './packed';

const product = runningProduct() as Product & { readonly consoleUrl: string };
const { baseUrl: url, consoleUrl } = product;

let cli: PackedCli;
let tenant: OwnTenant;
let env: Record<string, string>;
beforeAll(async () => {
  tenant = await createOwnTenant('looks');
  env = { GLOVEBOX_URL: url, GLOVEBOX_KEY: tenant.management_key };
  cli = new PackedCli();
  await cli.succeed(['init']);
});
afterAll(() => cli.remove());

const run = (...args: string[]): Promise<Ended> => cli.run(args, { env });

describe('logs', () => {
  interface Line {
    readonly log: 'calls' | 'runs';
    readonly trace_id?: string;
    readonly resource_id?: string;
    readonly reactor_id?: string;
    readonly outcome: string;
  }
  let [good, bad, trace] = ['', '', ''];
  beforeAll(async () => {
    const mine = { ...product, adminKey: tenant.management_key };
    good = await reactorOf(mine, 'module.exports = () => ({ raw: 1 });');
    bad = await reactorOf(mine, 'module.exports = () => { throw new Error("no"); };');
    for (const id of [good, bad, bad]) {
      const { headers } = await call('POST', `${url}/reactors/${id}/react`, {
        ...{ key: tenant.private_key, body: { args: {} } },
      });
      trace = headers.get('svc-trace-id') ?? '';
    }
    await until(async () => {
      const lines = await linesOf();
      const ofReactors = (log: string): number =>
        lines.filter((line) => line.log === log && idOf(line) !== undefined).length;
      return ofReactors('calls') === 3 && ofReactors('runs') === 3;
    }, 60_000);
  });

  const idOf = ({ log, resource_id, reactor_id }: Line): string | undefined =>
    log === 'runs' ? resource_id : reactor_id;

  async function linesOf(...args: string[]): Promise<Line[]> {
    const said = await cli.succeed(['logs', '--json', ...args], { env });
    const lines = said.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Line);
  }
  const kindsOf = (lines: readonly Line[]): string[] => lines.map(({ log }) => log).sort();

  it('--name shows the calls and runs of one reactor alone', async () => {
    const lines = await linesOf('--name', good);
    expect(kindsOf(lines)).toEqual(['calls', 'runs']);
    expect(lines.map(idOf)).toEqual([good, good]);
  });

  it('--failed shows what failed alone', async () => {
    const lines = await linesOf('--failed');
    expect(kindsOf(lines)).toEqual(['calls', 'calls', 'runs', 'runs']);
    expect(lines.map(idOf)).toEqual([bad, bad, bad, bad]);
  });

  it('--only shows calls or runs alone', async () => {
    expect(kindsOf(await linesOf('--only', 'runs'))).toEqual(['runs', 'runs', 'runs']);
    expect(new Set(kindsOf(await linesOf('--only', 'calls')))).toEqual(new Set(['calls']));
    expect(await run('logs', '--only', 'webhooks')).toMatchObject({ code: 2, stdout: '' });
  });

  it('--trace-id shows one call with its run alone', async () => {
    const lines = await linesOf('--trace-id', trace);
    expect(kindsOf(lines)).toEqual(['calls', 'runs']);
    expect(lines.map((line) => line.trace_id)).toEqual([trace, trace]);
  });

  it('--since begins where it says', async () => {
    expect(await linesOf('--since', '0', '--only', 'runs')).toEqual([]);
    expect(await run('logs', '--since', 'today')).toMatchObject({ code: 2, stdout: '' });
  });

  it('without --json each line has time, outcome, what was called and its trace', async () => {
    const said = await cli.succeed(['logs', '--trace-id', trace], { env });
    const lines = said.trim().split('\n');
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}`;
    const end = String.raw`.* [\d.]+ ms, trace ${trace}$`;
    const ofCall = String.raw`^${time} ✗ POST /reactors/\{id\}/react 500 reactor_error${end}`;
    const ofRun = `^${time} ✗ run reactor sync 500 reactor_error${end}`;
    for (const form of [ofCall, ofRun]) {
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(form)) as unknown);
    }
    expect(lines).toHaveLength(2);
  });
});

describe('open', () => {
  const opened = (): string => join(cli.cwd, 'opened');
  /** As at a terminal, with a browser that notes what it is to show. */
  function atTerminal(): Record<string, string> {
    const bin = join(cli.cwd, 'bin');
    mkdirSync(bin, { recursive: true });
    for (const name of ['xdg-open', 'open']) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho "$1" > '${opened()}'\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const preload = join(bin, 'terminal.cjs');
    writeFileSync(preload, 'process.stdout.isTTY = true;');
    const PATH = [bin, cli.environment.PATH].join(delimiter);
    return { ...env, PATH, NODE_OPTIONS: `--require ${preload}`, NO_COLOR: '1' };
  }

  beforeAll(() => {
    env = { ...env, GLOVEBOX_CONSOLE_URL: consoleUrl };
  });

  it('prints the address, and opens no browser but at a terminal', async () => {
    const withBrowser = { ...atTerminal(), NODE_OPTIONS: '' };
    const { code, stdout } = await cli.run(['open'], { env: withBrowser });
    expect([code, stdout]).toEqual([0, `${consoleUrl}\n`]);
    await cli.succeed(['open', '--print'], { env: atTerminal() });
    const shown = await cli.succeed(['open', '--json'], { env: atTerminal() });
    expect(JSON.parse(shown)).toEqual({ url: consoleUrl });
    expect(existsSync(opened())).toBe(false);
  });

  it('opens the page of a reactor in a browser, at a terminal', async () => {
    await cli.succeed(['push'], { env });
    const { body } = await call('GET', `${url}/reactors?slug=hello`, {
      key: tenant.management_key,
    });
    const [{ id }] = body.data as [{ id: string }];
    const address = `${consoleUrl}/reactors/${id}\n`;
    expect(await cli.succeed(['open', 'hello'], { env: atTerminal() })).toBe(address);
    await until(() => Promise.resolve(readFileSync(opened(), 'utf8') === address));
  });

  it('of a name that there is not ends with 4', async () => {
    expect(await run('open', 'nobody')).toMatchObject({ code: 4, stdout: '' });
  });
});

it('diff --exit-code ends with 0 where nothing differs, and with 1 where something does', async () => {
  await cli.succeed(['push'], { env });
  await cli.succeed(['pull'], { env });
  expect(await run('diff', '--exit-code')).toMatchObject({ code: 0, stdout: '' });
  const file = join(cli.cwd, 'reactors/hello/reactor.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('name: Hello', 'name: Changed'));
  const differs = await run('diff', '--exit-code');
  expect(differs.code).toBe(1);
  expect(differs.stdout).toMatch(/-name: Hello\n\+name: Changed/);
  expect(await run('diff')).toMatchObject({ code: 0, stdout: differs.stdout });
});
