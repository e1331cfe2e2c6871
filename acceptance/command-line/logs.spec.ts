import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { call, reactorOf, runningProduct, scriptEnvironment, until } from '../product';
import { PackedCli } from './packed';

const product = runningProduct();
const { baseUrl: url } = product;
const script = join(__dirname, '..', '..', 'tools', 'tenant-create.mjs');

const cli = new PackedCli();
afterAll(() => cli.remove());

interface Line {
  readonly log: 'calls' | 'runs';
  readonly id: string;
  readonly path: string;
  readonly count?: number;
}

it('logs --follow shows each of 2,000 calls and runs once', async () => {
  const [calls, runs] = [1_700, 300];
  // Calls of others in the same tenant would share lines with these.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, '--name', 'followed', '--demo'],
    { env: scriptEnvironment() },
  );
  const tenant = JSON.parse(stdout) as { management_key: string; private_key: string };
  const { management_key: adminKey, private_key: privateKey } = tenant;
  const reactorId = await reactorOf(
    { ...product, adminKey },
    'module.exports = () => ({ raw: 1 });',
  );
  const child = cli.start(['logs', '--follow', '--json'], {
    env: { GLOVEBOX_URL: url, GLOVEBOX_KEY: adminKey },
  });
  const lines: Line[] = [];
  if (!child.stdout) throw new Error('no output');
  createInterface({ input: child.stdout }).on('line', (line) =>
    lines.push(JSON.parse(line) as Line),
  );

  const ask = async (): Promise<void> => {
    const { status } = await call('GET', `${url}/permissions`, { key: adminKey });
    expect(status).toBe(200);
  };
  const react = async (): Promise<void> => {
    const { status } = await call('POST', `${url}/reactors/${reactorId}/react`, {
      ...{ key: privateKey, body: { args: {} } },
    });
    expect(status).toBe(200);
  };
  const many = async (total: number, atOnce: number, one: () => Promise<void>): Promise<void> => {
    for (let done = 0; done < total; done += atOnce) {
      await Promise.all(Array.from({ length: atOnce }, one));
    }
  };
  await Promise.all([many(calls, 20, ask), many(runs, 5, react)]);

  const sum = (some: readonly Line[]): number =>
    some.reduce((total, { count = 1 }) => total + count, 0);
  const shown = () => ({
    calls: sum(lines.filter(({ log, path }) => log === 'calls' && path === '/permissions')),
    runs: lines.filter(({ log }) => log === 'runs').length,
    repeated: lines.length - new Set(lines.map(({ log, id }) => `${log} ${id}`)).size,
  });
  const isAll = (): boolean => shown().calls >= calls && shown().runs >= runs;
  await until(() => Promise.resolve(isAll()), 90_000);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(shown()).toEqual({ calls, runs, repeated: 0 });
});
