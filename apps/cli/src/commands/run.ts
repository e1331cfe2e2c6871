import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { urlOf } from '../connection';
import type { Context } from '../context';
import { codeOf, Failure, usage } from '../failure';
import { projectAround, readProjectFile } from '../project/project';
import { AuthoritiesFile } from '../run/authorities';
import { environmentOf } from '../run/environment';
import { LentKey } from '../run/lent-key';

interface RunOptions {
  readonly as?: string;
  readonly forward?: string;
}

/** Runs a command whose requests go through Glovebox, with a key that ends with it. */
export async function run(
  context: Context,
  { as, forward }: RunOptions,
  ...command: string[]
): Promise<void> {
  const { cwd, env, terminal } = context;
  const root = projectAround(cwd);
  const settings = root === undefined ? undefined : readProjectFile(root);
  const application = as ?? settings?.runsAs;
  if (application === undefined) {
    throw usage(
      'Which application’s tokens may the command use?',
      'Say --as NAME, or `run: { application: NAME }` in glovebox.yaml.',
    );
  }
  const connection = context.connection();
  const forwardUrl = forwardUrlOf(connection.url, forward ?? env.GLOVEBOX_FORWARD_URL);
  // The key is given back also where the program was interrupted.
  const api = context.api(new AbortController().signal);
  const { certificates } = await api.get('/tenants/self/forward-ca');
  const lent = await terminal.progress('asking for a key', LentKey.borrow(api, application));
  const authorities = new AuthoritiesFile(certificates, env);
  try {
    const glovebox = new URL(connection.url);
    const way = { forwardUrl, key: lent.key, authoritiesFile: authorities.path, glovebox };
    process.exitCode = await exitOf(
      command,
      environmentOf(way, settings?.env ?? {}, env),
      context.signal,
    );
  } finally {
    authorities.remove();
    await terminal.progress('giving the key back', lent.giveBack());
  }
}

/** `npm start` listens five ports above. */
function forwardUrlOf(base: string, given: string | undefined): URL {
  if (given !== undefined) return new URL(urlOf(given));
  const { protocol, hostname, port } = new URL(base);
  const isLocal = hostname === '127.0.0.1' || hostname === 'localhost';
  if (isLocal && port !== '') return new URL(`${protocol}//${hostname}:${Number(port) + 5}`);
  throw usage(
    `Where does ${base} listen for forward mode?`,
    'Say --forward URL, or set GLOVEBOX_FORWARD_URL; the operator knows it.',
  );
}

/** The exit code of the command, as a shell tells it. */
function exitOf(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env });
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end);
  return new Promise<number>((done, fail) => {
    child.once('error', (error) => {
      const why = codeOf(error) === 'ENOENT' ? 'it was not found' : error.message;
      fail(new Failure('usage', `"${program}" does not start: ${why}.`));
    });
    child.once('exit', (code, by) => done(code ?? 128 + (by ? constants.signals[by] : 0)));
  }).finally(() => signal.removeEventListener('abort', end));
}
