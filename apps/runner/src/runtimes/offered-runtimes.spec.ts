import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@glovebox/testing';
import { createContext } from '../context';
import { locateFiles } from '../process/launcher';
import { silent, specConfig, startSpecRunner, type SpecRunner } from '../spec-runner';
import { OfferedRuntimes } from './offered-runtimes';

const programs = join(__dirname, '../../runtimes/node20/node_modules');
const code = 'module.exports = () => ({ v: process.version })';
const ran = { kind: 'returned', value: { v: expect.stringMatching(/^v20\./) as string } };
const folder = mkdtempSync(join(tmpdir(), 'glovebox-runtimes-'));
const runners: SpecRunner[] = [];
let made = 0;

beforeAll(() => chmodSync(folder, 0o755));
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder that holds node20 alone, and a script in the place of npm, which needs a network. */
function prepare(fetching: string) {
  made += 1;
  const runtimesDir = join(folder, String(made));
  const fetcher = join(runtimesDir, 'fetch.js');
  const told = join(runtimesDir, 'told');
  mkdirSync(join(runtimesDir, 'node20'), { recursive: true });
  symlinkSync(programs, join(runtimesDir, 'node20/node_modules'));
  writeFileSync(told, '');
  writeFileSync(
    fetcher,
    `const fs = require('fs');
     const [, , folder] = process.argv;
     const name = require('path').basename(folder);
     const add = () => {
       fs.mkdirSync(folder);
       fs.symlinkSync('${programs}', folder + '/node_modules');
     };
     const isTold = (what) => fs.readFileSync('${told}', 'utf8').includes(what);
     fs.appendFileSync('${told}', name + ';');
     ${fetching}`,
  );
  return {
    env: { RUNNER_RUNTIMES: '', RUNNER_RUNTIMES_DIR: runtimesDir, RUNNER_RUNTIME_FETCHER: fetcher },
    fetcher,
    fetches: () => readFileSync(told, 'utf8'),
    tell: (what: string) => writeFileSync(told, what, { flag: 'a' }),
  };
}

const start = async (env: Record<string, string>, logger = silent): Promise<SpecRunner> => {
  const runner = await startSpecRunner(env, undefined, logger);
  runners.push(runner);
  return runner;
};

describe('a runtime that is missing', () => {
  it('is fetched once for all calls that come first, which wait for it', async () => {
    const { env, fetches, tell } = prepare(
      `const timer = setInterval(() => { if (isTold('go')) { clearInterval(timer); add(); } }, 10);`,
    );
    const runner = await start(env);
    const running = Promise.all(
      ['a', 'b', 'c'].map((tenantId) => runner.run(code, { tenantId, runtime: 'node22' })),
    );
    await waitFor(() => fetches() !== '');
    expect(await runner.run(code)).toMatchObject(ran);
    tell('go');
    expect(await running).toEqual([ran, ran, ran].map((each) => expect.objectContaining(each)));
    expect(await runner.run(code, { runtime: 'node22' })).toMatchObject(ran);
    expect(fetches()).toBe('node22;go');
  });

  it('is refused while it is being fetched longer than a call may wait', async () => {
    const { env } = prepare('setInterval(() => {}, 1e6);');
    const runner = await start(env);
    expect(await runner.run(code, { runtime: 'node24' })).toEqual({
      kind: 'no_capacity',
      runtime: 'fetching',
    });
  });

  it('is refused when it cannot be fetched, and the log names the command to run by hand', async () => {
    const { env, fetcher, fetches } = prepare(`console.error('no network'); process.exit(1);`);
    const errors: unknown[] = [];
    const logger = { ...silent, error: (...line: unknown[]) => void errors.push(line) };
    const runner = await start(env, logger);
    const refused = { kind: 'no_capacity', runtime: 'not_fetched' };
    for (let nth = 0; nth < 3; nth += 1) {
      expect(await runner.run(code, { runtime: 'node24' })).toEqual(refused);
    }
    expect(await runner.run(code)).toMatchObject(ran);
    expect(fetches()).toBe('node24;');
    expect(JSON.stringify(errors)).toContain('no network');
    expect(JSON.stringify(errors)).toContain(
      `by hand: node ${fetcher} ${env.RUNNER_RUNTIMES_DIR}/node24`,
    );
  });

  it('is fetched by a script that gets the variables of npm, and no secret', async () => {
    const { env, fetches } = prepare(
      `fs.writeFileSync('${folder}/env', JSON.stringify(process.env)); process.exit(1);`,
    );
    const forNpm = {
      ...{ PATH: '/usr/bin', HOME: folder, https_proxy: 'http://proxy', NO_PROXY: 'localhost' },
      ...{ npm_config_registry: 'http://registry', NODE_EXTRA_CA_CERTS: join(folder, 'none') },
    };
    const runner = await start({ ...env, ...forNpm, LOG_LEVEL: 'info' });
    await runner.run(code, { runtime: 'node24' });
    expect(fetches()).toBe('node24;');
    expect(JSON.parse(readFileSync(join(folder, 'env'), 'utf8'))).toEqual(forNpm);
  });

  it('lets each tenant wait for it, however much another one wants to run on it', async () => {
    const { env, fetcher, tell } = prepare(
      `setInterval(() => { if (isTold('go')) process.exit(1); }, 10);`,
    );
    const config = { ...specConfig(folder, env), runtimeFetcher: fetcher };
    const offered = new OfferedRuntimes({
      ...{ config, level: 2, workDir: folder, logger: silent },
      files: locateFiles({ ...config, workDir: folder }),
    });
    const input = Buffer.alloc(20 * 1024 ** 2);
    const obtain = (tenantId: string) =>
      offered.obtain({ runtime: 'node24', tenantId, input }, new AbortController().signal);
    const first = obtain('a');
    expect(await obtain('a')).toBe('fetching');
    const second = obtain('b');
    tell('go');
    expect(await Promise.all([first, second])).toEqual(['not_fetched', 'not_fetched']);
    await offered.stop();
  });

  it('keeps no runner from stopping while its script does not end', async () => {
    const { env, fetches } = prepare(
      `process.on('SIGTERM', () => undefined); setInterval(() => {}, 1e6);`,
    );
    const runner = await start(env);
    const running = runner.run(code, { runtime: 'node24' });
    await waitFor(() => fetches() !== '');
    await runner.ctx.runtimes.stop();
    expect(await running).toMatchObject({ kind: 'no_capacity' });
  });

  it('is refused when the isolation does not hold with it', async () => {
    const { env } = prepare(
      `fs.mkdirSync(folder + '/node_modules/' + process.arch + '/bin', { recursive: true });
       fs.copyFileSync('/bin/true', folder + '/node_modules/' + process.arch + '/bin/node');`,
    );
    const runner = await start(env);
    expect(await runner.run(code, { runtime: 'node24' })).toEqual({
      kind: 'no_capacity',
      runtime: 'not_fetched',
    });
  });

  it.each([
    ['where nothing is fetched', { RUNNER_RUNTIME_FETCHER: '' }],
    ['where RUNNER_RUNTIMES does not name it', { RUNNER_RUNTIMES: 'node20,node22' }],
  ])('is refused %s', async (_, more) => {
    const { env, fetches } = prepare('add();');
    const runner = await start({ ...env, ...more });
    expect(await runner.run(code, { runtime: 'node24' })).toEqual({
      kind: 'no_capacity',
      runtime: 'not_offered',
    });
    expect(fetches()).toBe('');
  });
});

describe('a runner whose RUNNER_RUNTIMES', () => {
  const contextOf = (env: Record<string, string>): Promise<unknown> =>
    createContext({ ...specConfig(folder, env), workDir: folder }, { logger: silent });

  it('names one that is not installed and cannot be fetched refuses to start', async () => {
    const { env } = prepare('');
    const never = { ...env, RUNNER_RUNTIME_FETCHER: '' };
    await expect(contextOf({ ...never, RUNNER_RUNTIMES: 'node20,node24' })).rejects.toThrow(
      /^node24 is not installed: run npm ci --ignore-scripts --prefix .*\/node24$/,
    );
    await expect(
      contextOf({ ...never, RUNNER_RUNTIMES_DIR: join(folder, 'empty') }),
    ).rejects.toThrow('node16 is not installed');
  });

  it('names one that there is not refuses to start', () => {
    expect(() => specConfig(folder, { RUNNER_RUNTIMES: 'node20,node18' })).toThrow(
      'RUNNER_RUNTIMES names node18, which is none of node16, node20, node22, node24',
    );
  });
});
