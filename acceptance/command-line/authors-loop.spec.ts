import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { promisify } from 'node:util';
import { devFile, runningProduct } from '../product';
import { PackedCli, type RunOptions } from './packed';

const product = runningProduct();
const url = product.baseUrl;
const withKey: RunOptions = { env: { GLOVEBOX_URL: url, GLOVEBOX_KEY: product.adminKey } };

let cli: PackedCli;
beforeAll(async () => {
  cli = new PackedCli();
  await cli.succeed(['init']);
});
afterAll(() => cli.remove());

const fileOf = (name: string): string => join(cli.cwd, name);

/** Puts another text into a file while the work lasts. */
async function changed(
  name: string,
  change: (text: string) => string,
  work: () => Promise<void>,
): Promise<void> {
  const before = readFileSync(fileOf(name), 'utf8');
  writeFileSync(fileOf(name), change(before));
  try {
    await work();
  } finally {
    writeFileSync(fileOf(name), before);
  }
}

/** Waits for the values that a command prints in JSON, until one is as it should be. */
function valuesOf(child: ChildProcess): (wanted: object) => Promise<void> {
  const lines = linesOf(child)[Symbol.asyncIterator]();
  return async (wanted) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`ended before ${JSON.stringify(wanted)}`);
      try {
        return expect(JSON.parse(value)).toMatchObject(wanted);
      } catch {
        // A save was seen while it was under way.
      }
    }
  };
}

function linesOf({ stdout }: ChildProcess): Interface {
  if (!stdout) throw new Error('no output');
  return createInterface({ input: stdout });
}

const endOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((done) => child.once('close', done));

describe('the package', () => {
  it('has the program, what tests import, and nothing of the repository beside them', () => {
    expect([...cli.files].sort()).toEqual(
      ['LICENSE', 'README.md', 'glovebox.mjs', 'LICENSES', 'package.json', 'testing.mjs'].sort(),
    );
  });

  it('starts quickly', async () => {
    const fastest = async (start: () => Promise<unknown>): Promise<number> => {
      const times: number[] = [];
      for (let nth = 0; nth < 5; nth += 1) {
        const begun = performance.now();
        await start();
        times.push(performance.now() - begun);
      }
      return Math.min(...times);
    };
    // 150 ms of a machine that does nothing else: this one runs other specs.
    expect(await fastest(() => cli.run(['--help']))).toBeLessThan(600);
  });
});

describe('keys', () => {
  it('come from standard input, are stored for their user alone, and are printed nowhere', async () => {
    const said = await cli.run(['login', '--url', url], { input: `${product.adminKey}\n` });
    expect(said).toMatchObject({ code: 0, stderr: '' });
    await cli.succeed(['login', '--url', url], { input: product.privateKey });
    expect(statSync(cli.configFile).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(cli.configFile, 'utf8'))).toEqual({
      default: { url, managementKey: product.adminKey, privateKey: product.privateKey },
    });
    const checks = await cli.succeed(['doctor']);
    expect(checks).toContain('✓ management key');
    expect(said.stdout + checks).not.toContain('key_');
  });

  it('reach no program that is started: neither the bundler nor a test', async () => {
    const dump = fileOf('environment.txt');
    const program = fileOf('bundler.sh');
    const bundler = require.resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`);
    writeFileSync(program, `#!/bin/sh\nenv >> '${dump}'\nexec '${bundler}' "$@"\n`);
    chmodSync(program, 0o755);
    writeFileSync(
      fileOf('tests/environment.test.ts'),
      `import { appendFileSync } from 'node:fs';
       appendFileSync(${JSON.stringify(dump)}, JSON.stringify([process.env, process.argv]));`,
    );
    const env = {
      ...withKey.env,
      ESBUILD_BINARY_PATH: program,
      GLOVEBOX_PRIVATE_KEY: product.privateKey,
    };
    await cli.succeed(['test', 'tests/environment.test.ts'], { env });
    const dumped = readFileSync(dump, 'utf8');
    expect(dumped).toContain('GLOVEBOX_TEST_SOCKET');
    expect(dumped).toContain('ESBUILD_BINARY_PATH=');
    expect(dumped).not.toMatch(/key_/);
  });

  it('stand in no argument and no environment of a command that runs, and in no log of Glovebox', async () => {
    const child = cli.start(['logs', '--follow', '--json', '--since', '1']);
    try {
      await once(linesOf(child), 'line');
      const ofProcess = ['cmdline', 'environ'].map((name) =>
        readFileSync(`/proc/${child.pid}/${name}`, 'utf8'),
      );
      expect(ofProcess.join()).toContain('logs');
      expect(ofProcess.join()).not.toMatch(/key_/);
    } finally {
      child.kill('SIGINT');
    }
    expect(await endOf(child)).toBe(0);
    const refused = await cli.run(['login', product.adminKey, '--url', url]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).not.toMatch(/key_/);
    const folder = join(dirname(devFile()), 'logs');
    const logs = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(logs.join().length).toBeGreaterThan(0);
    const keys = [product.adminKey, product.privateKey];
    expect(keys.filter((key) => logs.some((log) => log.includes(key)))).toEqual([]);
  });

  it('go to the URL that they are stored for, and to no other', async () => {
    const keys: unknown[] = [];
    const server = createServer((request, response) => {
      keys.push(request.headers['svc-api-key']);
      response.end('{}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    try {
      const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const said = await cli.run(['logs', '--url', other]);
      expect(said).toMatchObject({ code: 3 });
      expect(said.stderr).toContain(`Profile "default" is for ${url}`);
      await cli.run(['doctor', '--url', other]);
      expect(keys).toEqual([undefined]);
    } finally {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  });

  it('that are wrong, missing or not enough end with 3, and say how to mend it', async () => {
    const wrong = await cli.run(['login', '--url', url], { input: 'key_of_nobody_at_all' });
    expect(wrong).toMatchObject({ code: 3, stdout: '' });
    expect(wrong.stderr).toContain('glovebox login');
    const env = { GLOVEBOX_URL: url, GLOVEBOX_KEY: product.privateKey };
    expect(await cli.run(['logs', '--json'], { env })).toMatchObject({ code: 3 });
    const none = await cli.run(['logs', '--json', '--profile', 'other', '--url', url]);
    expect(JSON.parse(none.stderr)).toMatchObject({ error: { exit: 'refused' } });
  });
});

describe('init', () => {
  it('keeps values in secrets/ out of Git, and what tests are built to', () => {
    const ignored = readFileSync(fileOf('.gitignore'), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['secrets/', '.glovebox/', 'node_modules/']));
  });

  it('writes types with which its own files compile', async () => {
    const tsc = require.resolve('typescript/bin/tsc');
    const ofNode = join(__dirname, '..', '..', 'node_modules', '@types');
    const args = [tsc, '-p', cli.cwd, '--types', 'node', '--typeRoots', ofNode];
    const { stdout } = await promisify(execFile)(process.execPath, args).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });
});

describe('mistakes', () => {
  it('in a command end with 2 before anything is sent', async () => {
    const unknown = await cli.run(['psuh']);
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toContain('Did you mean push?');
    expect(await cli.run(['dev', 'nobody'], withKey)).toMatchObject({ code: 2 });
  });

  it.each([
    ['a value in a file', 'configuration:\n  KEY: hunter2\n', '6:3: no value stands in a file'],
    ['a member that there is not', 'nmae: x\n', '5:1: "nmae" is no member here'],
    ['YAML that is none', 'description: [\n', 'reactors/hello/reactor.yaml:'],
    [
      'a file of elsewhere',
      'configuration:\n  KEY: !file ../../../etc/hostname\n',
      '6:3: the file must be in',
    ],
  ])('in a file, such as %s, have its line', async (_, more, said) => {
    const shorten = (text: string): string => `${text.split('\n').slice(0, 4).join('\n')}\n${more}`;
    await changed('reactors/hello/reactor.yaml', shorten, async () => {
      const ended = await cli.run(['dev', 'hello', '--once'], withKey);
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toContain(said);
    });
  });

  it('of the address end with 5', async () => {
    const env = { GLOVEBOX_URL: 'http://127.0.0.1:9', GLOVEBOX_KEY: product.adminKey };
    const ended = await cli.run(['logs'], { env });
    expect(ended.code).toBe(5);
    expect(ended.stderr).toContain('http://127.0.0.1:9 does not answer');
  });
});

describe('dev', () => {
  it('shows result and console of a reactor, and the request that a proxy would send', async () => {
    const ran = JSON.parse(
      await cli.succeed(['dev', 'hello', '--once', '--json'], withKey),
    ) as unknown;
    expect(ran).toMatchObject({
      status: 'completed',
      result: { raw: { hello: 'Ada', last4: '4242' } },
      lines: [{ level: 'info', text: 'greeting 3 letters' }],
    });
    const sent = JSON.parse(
      await cli.succeed(['dev', 'echo', '--once', '--json'], withKey),
    ) as unknown;
    expect(sent).toMatchObject({ request: { body: '{"amount":1250}' } });
  });

  it('names the line of the source in errors, their stack and the output of code', async () => {
    writeFileSync(
      fileOf('reactors/hello/lib.ts'),
      `interface Unused { readonly a: string }\n\nexport function fail(text: string): never {\n  console.log(new Error('seen'));\n  throw new Error(text);\n}\n`,
    );
    const failing = (text: string): string =>
      `import { fail } from './lib';\n${text}`.replace(
        '  const last4',
        '  if (args.card) fail("on purpose");\n  const last4',
      );
    await changed('reactors/hello/code.ts', failing, async () => {
      const ended = await cli.run(['dev', 'hello', '--once', '--json'], withKey);
      expect(ended.code).toBe(1);
      expect(JSON.parse(ended.stdout)).toMatchObject({
        error: {
          message: 'on purpose',
          place: { file: 'reactors/hello/lib.ts', line: 5 },
          stack: [
            { function: 'fail', file: 'reactors/hello/lib.ts', line: 5 },
            { file: 'reactors/hello/code.ts', line: 13 },
          ],
        },
        lines: [
          {},
          { text: expect.stringContaining('at fail (reactors/hello/lib.ts:4:') as unknown },
        ],
      });
    });
    await changed(
      'reactors/hello/code.ts',
      (text) => `${text}const x = ;\n`,
      async () => {
        const ended = await cli.run(['dev', 'hello', '--once'], withKey);
        expect(ended.code).toBe(2);
        expect(ended.stderr).toMatch(/reactors\/hello\/code\.ts:\d+:11: Unexpected ";"/);
      },
    );
  });

  it('runs again on each save of a file that is in the code, and outlives one that is broken', async () => {
    const child = cli.start(['dev', 'hello', '--json'], withKey);
    const next = valuesOf(child);
    try {
      await next({ result: { raw: { hello: 'Ada' } } });
      await changed(
        'reactors/hello/code.ts',
        (text) => text.replace('args.name,', 'args.name + "!",'),
        async () => {
          await next({ result: { raw: { hello: 'Ada!' } } });
          await changed(
            'reactors/hello/code.ts',
            (text) => `${text}}`,
            async () => {
              await next({ status: 'not_run' });
            },
          );
          await next({ result: { raw: { hello: 'Ada!' } } });
        },
      );
      await next({ result: { raw: { hello: 'Ada' } } });
      await changed(
        'reactors/hello/args.json',
        () => '{"name": "Bob"}',
        async () => {
          await next({ result: { raw: { hello: 'Bob' } } });
        },
      );
    } finally {
      child.kill('SIGINT');
    }
    expect(await endOf(child)).toBe(0);
  });
});

describe('test', () => {
  it('runs the tests of a fresh folder in the sandbox', async () => {
    const said = await cli.succeed(['test', 'tests/hello.test.ts', '--json'], withKey);
    const tests = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { test: string; ok: boolean });
    expect(tests.map(({ test, ok }) => [test, ok])).toEqual([
      ['shows the end of the card alone', true],
      ['refuses an empty name', true],
      ['sends amounts in cents', true],
    ]);
  });

  it('ends with 1 where a test fails', async () => {
    await changed(
      'reactors/hello/code.ts',
      (text) => text.replace('slice(-4)', 'slice(-6)'),
      async () => {
        const ended = await cli.run(['test', 'tests/hello.test.ts'], withKey);
        expect(ended.code).toBe(1);
        expect(ended.stdout).toContain('✖ shows the end of the card alone');
      },
    );
  });
});
