import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { glovebox, type Ended } from '../spec-program';

let server: Destination;
let root: string;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'glovebox-tested-'));
  write('glovebox.yaml', 'version: 1\n');
  write('reactors/hello/reactor.yaml', 'name: Hello\n');
  write('reactors/hello/code.ts', 'export default () => ({ raw: 1 });\n');
  server = await startDestination((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: 'completed', result: 1, lines: [], duration_ms: 1 }));
  });
});
afterEach(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

const run = (...args: string[]): Promise<Ended> =>
  glovebox(['test', '--json', ...args], {
    env: { GLOVEBOX_URL: server.url, GLOVEBOX_KEY: 'key_of_tests' },
    cwd: root,
  });

/** A test that sends this to the socket, whatever `@glovebox/testing` would send. */
const sending = (asked: object): string => `
import { request } from 'node:http';
import { test } from 'node:test';
test('asks', () => new Promise((done, fail) => {
  const socketPath = process.env.GLOVEBOX_TEST_SOCKET;
  request({ socketPath, method: 'POST' }, (answer) => answer.resume().on('end', done))
    .on('error', fail)
    .end(${JSON.stringify(JSON.stringify(asked))});
}));
`;

it('a test cannot ask for more than reactor() and transform() offer', async () => {
  const args = { a: 1 };
  const more = { svc: true, inspect: 'x', reactor_id: 'other', reactor: { formula: {} } };
  const configuration = { KEY: 'of the test' };
  const trial = { args, configuration, network: true, ...more };
  write('tests/asks.test.mjs', sending({ kind: 'reactor', slug: 'hello', trial }));
  expect(await run()).toMatchObject({ code: 0 });
  const [request, ...others] = server.requests;
  expect(others).toEqual([]);
  expect(request?.json()).toEqual({
    reactor: {
      formula: expect.objectContaining({ runtime: 'node24' }) as unknown,
      configuration,
    },
    ...{ args, network: true },
  });
});

it('two runs in one folder leave the tests of each other alone, and nothing behind', async () => {
  const [one, two] = ['one', 'two'].map((name) => join(root, name)) as [string, string];
  const quoted = (text: string): string => JSON.stringify(text);
  write(
    'tests/a.test.mjs',
    `import { existsSync, writeFileSync } from 'node:fs';
     import { setTimeout as pause } from 'node:timers/promises';
     writeFileSync(${quoted(one)}, '');
     while (!existsSync(${quoted(two)})) await pause(10);`,
  );
  write('tests/b.test.mjs', '');
  write(
    'tests/c.test.mjs',
    `import { writeFileSync } from 'node:fs'; writeFileSync(${quoted(two)}, '');`,
  );
  // The file of b is read when the second run has built its own.
  const first = run('--concurrency', '1', 'tests/a.test.mjs', 'tests/b.test.mjs');
  await waitFor(() => existsSync(one));
  const ended = [await run('tests/c.test.mjs'), await first];
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(readdirSync(join(root, '.glovebox'))).toEqual([]);
});

it('tests are built in no folder that a link of the project leads to', async () => {
  write('tests/none.test.mjs', '');
  const elsewhere = mkdtempSync(join(tmpdir(), 'glovebox-elsewhere-'));
  symlinkSync(elsewhere, join(root, '.glovebox'));
  const ended = await run();
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('.glovebox leads out of the folder of the project.');
  expect(readdirSync(elsewhere)).toEqual([]);
  rmSync(elsewhere, { recursive: true });
});
