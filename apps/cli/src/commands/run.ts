import { isInTheClear, urlOf } from '../connection';
import type { Context } from '../context';
import { usage } from '../failure';
import type { Interruption } from '../interruptions';
import { projectAround, readProjectFile } from '../project/project';
import { AuthoritiesFile } from '../run/authorities';
import { environmentOf } from '../run/environment';
import { LentKey } from '../run/lent-key';
import { Started } from '../run/started';

interface RunOptions {
  readonly as?: string;
  readonly forward?: string;
  readonly allowHttp?: boolean;
}

/** Runs a command whose requests go through Glovebox, with a key that ends with it. */
export async function run(
  context: Context,
  { as, forward, allowHttp }: RunOptions,
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
  if (isInTheClear(forwardUrl.href) && !allowHttp) {
    throw usage(`${forwardUrl.href} is not encrypted.`, 'Use https, or say --allow-http.');
  }
  const asking = context.api().get('/tenants/self/forward-ca');
  const { certificates } = await terminal.progress('asking for the authority', asking);
  let started: Started | undefined;
  const take = (name: Interruption): void =>
    started ? started.pass(name) : context.interruptions.end();
  await context.interruptions.during(take, async () => {
    const borrowing = LentKey.borrow(context, application);
    const lent = await terminal.progress('asking for a key', borrowing);
    let authorities: AuthoritiesFile | undefined;
    try {
      authorities = new AuthoritiesFile(certificates, env);
      const glovebox = new URL(connection.url);
      const way = { forwardUrl, key: lent.key, authoritiesFile: authorities.path, glovebox };
      context.signal.throwIfAborted();
      started = new Started(command, environmentOf(way, settings?.env ?? {}, env));
      process.exitCode = await started.ended;
    } finally {
      await terminal.progress('giving the key back', lent.giveBack());
      authorities?.remove();
    }
  });
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
