import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { withoutKeys } from '../config';
import type { Context } from '../context';
import { Failure, usage } from '../failure';
import { bundler } from '../project/bundle';
import { makeFolder } from '../project/own-files';
import { findProject, readProxy, readReactor } from '../project/project';
import { Trials, type ReactorTrial } from '../project/trial';
import type { Asked, TestedReactor } from '../testing-protocol';

interface TestOptions {
  readonly testNamePattern?: string;
  readonly concurrency: string;
}

/** A tenant has two dry runs at once. More would be told to wait. */
const trialsAtOnce = 2;
const requestBytesMax = 4 * 1024 * 1024;

/** Runs the tests of the folder with node:test, and their code in the sandbox of Glovebox. */
export async function test(context: Context, options: TestOptions, ...names: string[]) {
  const root = findProject(context.cwd);
  const sources = testsOf(context, root, names);
  const trials = new Trials(root, context.env, context.api());
  // Within the project, where the packages of tests are found. Two runs have two.
  const outdir = mkdtempSync(join(makeFolder(root, '.glovebox'), 'tests-'));
  try {
    const built = await buildTests(root, sources, outdir);
    await runBuilt(context, options, root, trials, built);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

async function runBuilt(
  context: Context,
  options: TestOptions,
  root: string,
  trials: Trials,
  built: readonly string[],
): Promise<void> {
  // Its path has to be short: 104 bytes are the most on macOS.
  const folder = mkdtempSync(join(tmpdir(), 'gb-'));
  chmodSync(folder, 0o700);
  const socket =
    process.platform === 'win32' ? `\\\\.\\pipe\\${relative(tmpdir(), folder)}` : join(folder, 's');
  const server = await serveTrials(context, root, trials, socket);
  try {
    const code = await runTests(context, options, root, built, socket);
    if (context.signal.aborted) throw new Failure('interrupted', 'Interrupted.');
    if (code !== 0) throw new Failure('failed', 'Tests failed.');
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    rmSync(folder, { recursive: true, force: true });
  }
}

const testFile = /\.test\.[cm]?[jt]s$/;

function testsOf({ cwd }: Context, root: string, names: readonly string[]): string[] {
  if (names.length > 0) {
    return names.map((name) => {
      if (existsSync(resolve(cwd, name))) return resolve(cwd, name);
      throw usage(`There is no ${name}.`);
    });
  }
  const found = ['tests', 'reactors', 'proxies'].flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => testFile.test(name) && !/(?:^|[/\\])node_modules[/\\]/.test(name))
          .map((name) => join(root, folder, name))
      : [],
  );
  if (found.length > 0) return found.sort();
  throw usage('There is no test.', 'Tests are *.test.ts in tests/, reactors/ and proxies/.');
}

/** Node 20 reads no TypeScript. Packages stay where they are. */
async function buildTests(
  root: string,
  sources: readonly string[],
  outdir: string,
): Promise<string[]> {
  const { build } = await bundler();
  const testing = fileURLToPath(new URL('testing.mjs', import.meta.url));
  const made = await build({
    absWorkingDir: root,
    entryPoints: [...sources],
    outdir,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    metafile: true,
    logLevel: 'silent',
    packages: 'external',
    plugins: [
      {
        name: 'testing',
        setup({ onResolve }) {
          onResolve({ filter: /^@glovebox\/testing$/ }, () => ({ path: testing }));
        },
      },
    ],
  }).catch((error: unknown) => {
    throw usage((error as Error).message);
  });
  return Object.keys(made.metafile.outputs).map((name) => join(root, name));
}

/** Begins work when less than so much is under way. */
function limited(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running === most) await new Promise<void>((begin) => waiting.push(begin));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

async function serveTrials(
  context: Context,
  root: string,
  trials: Trials,
  socket: string,
): Promise<Server> {
  const inTurn = limited(trialsAtOnce);
  const server = createServer((request, response) => {
    const answer = async (): Promise<unknown> => {
      if (Number(request.headers['content-length'] ?? 0) > requestBytesMax) {
        throw usage('The arguments are too large.');
      }
      const asked = JSON.parse(await text(request)) as Asked;
      const outcome = await inTurn(() =>
        asked.kind === 'reactor'
          ? trials.reactor(readReactor(root, asked.slug), offered(asked.trial))
          : trials.proxy(readProxy(root, asked.slug), asked.trial),
      );
      return { outcome };
    };
    void answer()
      .catch((error: unknown) => {
        const { message, hint } = context.explained(error) as Failure;
        return { failure: hint === undefined ? message : `${message}\n${hint}` };
      })
      .then((told) => response.end(JSON.stringify(told)));
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail).listen(socket, done);
  });
  return server;
}

/** By name: the process of the test may have sent more. */
const offered = ({ args, network = false, configuration }: TestedReactor): ReactorTrial => ({
  ...{ args, network },
  ...(configuration && { configuration }),
});

/** One JSON value for each test, in place of words. */
const jsonReporter = `data:text/javascript,${encodeURIComponent(`
export default async function* (events) {
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details?.type === 'suite') continue;
    const error = data.details?.error?.cause ?? data.details?.error;
    yield JSON.stringify({
      test: data.name, ok: type === 'test:pass', duration_ms: data.details?.duration_ms,
      ...(error && { message: String(error.message ?? error) }),
    }) + '\\n';
  }
}`)}`;

async function runTests(
  { terminal, env, signal }: Context,
  { testNamePattern, concurrency }: TestOptions,
  root: string,
  files: readonly string[],
  socket: string,
): Promise<number | null> {
  const args = [
    '--enable-source-maps',
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-reporter=${terminal.isJson ? jsonReporter : 'spec'}`,
    '--test-reporter-destination=stdout',
    ...(testNamePattern === undefined ? [] : [`--test-name-pattern=${testNamePattern}`]),
    ...files,
  ];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...withoutKeys(env), GLOVEBOX_TEST_SOCKET: socket },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const end = (): void => void child.kill();
  signal.addEventListener('abort', end, { once: true });
  return new Promise((done, fail) => {
    child.once('error', fail).once('exit', done);
  });
}
