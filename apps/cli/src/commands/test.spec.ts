import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startDestination, type Destination } from '@glovebox/testing';
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

const run = (...names: string[]): Promise<Ended> =>
  glovebox(['test', '--json', ...names], {
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
