import { Command, CommanderError, Option, type OutputConfiguration } from 'commander';
import { contextOf, type Context, type GlobalOptions } from './context';
import { codeOf, exitCodes, Failure, usage } from './failure';
import { Interruptions } from './interruptions';
import { plain, Terminal } from './terminal';
import { version } from './version';

/** A command gets its options, then its arguments. It is loaded when it is called. */
type Run = (context: Context, options: never, ...args: string[]) => void | Promise<void>;

const exitText = `
Exit codes:
  0 done · 1 what was run failed · 2 written wrongly, nothing was sent · 3 no key, or it may not
  4 Glovebox refused it · 5 no answer · 6 changed by others meanwhile, nothing written · 130 interrupted

Environment:
  GLOVEBOX_KEY, GLOVEBOX_PRIVATE_KEY, GLOVEBOX_WEBHOOK_SECRET, GLOVEBOX_URL, GLOVEBOX_PROFILE, GLOVEBOX_ALLOW_HTTP,
  NO_COLOR, FORCE_COLOR`;

export function programOf(
  contextFor: (options: GlobalOptions) => Context,
  output: OutputConfiguration = {},
): Command {
  const program = new Command('glovebox')
    .description('The author’s loop of Glovebox: write, try, test and deploy reactors and proxies.')
    .version(version)
    .addOption(new Option('--profile <name>', 'which stored URL and keys (default: "default")'))
    .option('--url <url>', 'where Glovebox is')
    .option('--json', 'results as JSON on standard output, one value a line')
    .option('--no-color', 'no colours')
    .addHelpText('after', exitText)
    .showHelpAfterError('`glovebox --help` and `glovebox COMMAND --help` list what there is.')
    .configureOutput(output)
    .enablePositionalOptions(false)
    .exitOverride();
  const add = (usage: string, about: string, load: () => Promise<Run>): Command => {
    const command = program.command(usage).description(about);
    return command.copyInheritedSettings(program).action(async (...given: unknown[]) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const names = given.slice(0, -2).flat() as string[];
      const run = await load();
      await run(contextFor(options), options as never, ...names);
    });
  };

  add('login', 'store a key, which is read from standard input', async () => {
    return (await import('./commands/login')).login;
  })
    .option('--web', 'sign in through the console, for 12 hours, in place of a management key')
    .option('--allow-http', 'send the key through a network in the clear');
  add('logout', 'end the session of the profile, and delete its stored keys', async () => {
    return (await import('./commands/login')).logout;
  });
  add(
    'doctor',
    'what is wrong with URL, keys, clock and versions, and how to mend it',
    async () => {
      return (await import('./commands/doctor')).doctor;
    },
  );
  add('open [name]', 'the address of the console, or of a reactor or proxy in it', async () => {
    return (await import('./commands/open')).open;
  }).option('--print', 'print it, and open no browser');
  add('init [folder]', 'a folder with a reactor, a proxy, a test and types', async () => {
    return (await import('./commands/init')).init;
  });
  add('dev <name>', 'run the code of a reactor or proxy in the sandbox on every save', async () => {
    return (await import('./commands/dev')).dev;
  })
    .option('--args <file>', 'its arguments (default: args.json, of a proxy call.json, beside it)')
    .option('--network', 'let the code connect')
    .option('--svc', 'give the code its svc; needs token:use')
    .option('--inspect [port]', 'let a debugger attach here (default: 9229; 0: any free one)')
    .option('--inspector <host:port>', 'with --inspect: where the runner listens for it')
    .option('--once', 'run once: 0 completed, 1 failed');
  add('test [files...]', 'run the tests of the folder, their code in the sandbox', async () => {
    return (await import('./commands/test')).test;
  })
    .option('-t, --test-name-pattern <pattern>', 'only tests of these names')
    .option('--concurrency <number>', 'files at the same time', '2');
  add('invoke <name>', 'call a deployed reactor, and show what it returns', async () => {
    return (await import('./commands/invoke')).invoke;
  })
    .option('--args <file>', 'its arguments as JSON; - is standard input')
    .option('--async', 'run it in the background, and wait for its result')
    .option('--callback-url <url>', 'with --async: where the webhook goes')
    .option('--timeout-ms <ms>', 'with --async: how long it may run')
    .option('--idempotency-key <key>', 'a call with the same key is carried out once');
  add('run <command...>', 'run a command whose requests go through Glovebox', async () => {
    return (await import('./commands/run')).run;
  })
    .usage('[options] -- <command...>')
    .option('--as <application>', 'whose tokens it may use')
    .option('--forward <url>', 'where Glovebox listens for forward mode')
    .option('--allow-http', 'send the key through a network in the clear');
  add('logs', 'calls and runs, one line each', async () => {
    return (await import('./commands/logs')).logs;
  })
    .option('-f, --follow', 'go on with what comes')
    .option('--only <kind>', 'calls or runs')
    .option('--failed', 'only what failed')
    .option('--name <name>', 'only those of this reactor or proxy')
    .option('--trace-id <id>', 'only those of this call')
    .option('--since <minutes>', 'how far back to begin', '10');
  add('listen', 'copies of webhooks for a port of this machine', async () => {
    return (await import('./commands/listen')).listen;
  })
    .requiredOption('--forward-to <url>', 'where to: 3000, localhost:3000/hooks or a URL')
    .option('--name <name>', 'only webhooks of this reactor')
    .option('--no-verify', 'forward without verifying signatures')
    .option('--allow-http', 'forward through a network in the clear');
  add('diff', 'what push would change', async () => (await import('./commands/diff')).diff).option(
    '--exit-code',
    '1 where files and deployment differ',
  );
  add('push', 'deploy the folder: all of it, or nothing', async () => {
    return (await import('./commands/push')).push;
  })
    .option('-m, --message <text>', 'why, for whoever reads the list of deployments')
    .option('--dry-run', 'say what would change, and change nothing')
    .option('--prune', 'delete what was deployed from files that are gone')
    .option('--force', 'overwrite what was changed by others meanwhile');
  add('deployments', 'what was deployed, by whom and why, the newest first', async () => {
    return (await import('./commands/deployments')).deployments;
  }).option('-n, --number <count>', 'how many', '20');
  add(
    'rollback [id]',
    'put in force what a deployment had: without an id, the one before',
    async () => {
      return (await import('./commands/deployments')).rollback;
    },
  )
    .option('-m, --message <text>', 'why, for whoever reads the list of deployments')
    .option('--project <name>', 'without an id: whose, in place of that of the folder')
    .option('--dry-run', 'say what would change, and change nothing')
    .option('--force', 'overwrite what was changed by others meanwhile');
  add(
    'pull [names...]',
    'write what is deployed into files; values stay where they are',
    async () => {
      return (await import('./commands/pull')).pull;
    },
  ).option('--force', 'overwrite files that differ; copies stay in .glovebox/replaced');
  add('completion <shell>', 'a script for bash, zsh or fish', async () => {
    return (await import('./commands/completion')).completion;
  });
  const hidden = program.command('complete [words...]', { hidden: true }).allowUnknownOption();
  hidden.copyInheritedSettings(program).action(async (words: string[]) => {
    const { complete } = await import('./commands/completion');
    complete(contextFor({ color: false }), {}, ...words);
  });
  return program;
}

export async function run(process: NodeJS.Process, env: NodeJS.ProcessEnv): Promise<void> {
  const interruptions = new Interruptions(process);
  // Whoever reads has enough, as `head` does.
  process.stdout.on('error', (error) => {
    if (codeOf(error) === 'EPIPE') process.exit(0);
    throw error;
  });
  // A terminal that has gone takes no words, and what is under way is tidied up all the same.
  process.stderr.on('error', () => undefined);
  let context: Context | undefined;
  const program = programOf((options) => {
    context = contextOf(options, env, process, interruptions);
    return context;
  }, outputOf(process));
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    process.exitCode = explain(error, context, process, env);
  }
}

/** With --json an error is one value, which explain() writes. */
const outputOf = ({ argv, stdout, stderr }: NodeJS.Process): OutputConfiguration => ({
  writeOut: (text) => void stdout.write(text),
  writeErr: (text) => void (asksForJson(argv) || stderr.write(text)),
});

/** Behind -- are words of another command. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}

function explain(
  thrown: unknown,
  context: Context | undefined,
  { argv, stdout, stderr }: NodeJS.Process,
  env: NodeJS.ProcessEnv,
): number {
  const terminal =
    context?.terminal ??
    new Terminal(stdout, stderr, { json: asksForJson(argv), colour: true }, env);
  if (thrown instanceof CommanderError) {
    // Without --json commander has said it.
    if (thrown.exitCode !== 0 && terminal.isJson) tell(usage(wordsOf(thrown)), terminal);
    return thrown.exitCode === 0 ? 0 : exitCodes.usage;
  }
  const error = context ? context.explained(thrown) : thrown;
  const failure = error instanceof Failure ? error : faultOf(error);
  tell(failure, terminal);
  return exitCodes[failure.exit];
}

const wordsOf = ({ code, message }: CommanderError): string =>
  code === 'commander.help' ? 'There is no command.' : message.replace(/^error: /, '');

function faultOf(error: unknown): Failure {
  const { stack = String(error) } = error as Error;
  return new Failure('failed', `A fault of the program itself: ${stack}`);
}

function tell({ exit, message, hint, details }: Failure, terminal: Terminal): void {
  if (terminal.isJson) {
    const shown = { ...details, exit, message, ...(hint === undefined ? {} : { hint }) };
    terminal.say(JSON.stringify({ error: shown }));
    return;
  }
  terminal.say(`${terminal.paintSaid('red', '✗')} ${plain(message)}`);
  if (hint !== undefined) terminal.say(plain(hint).replace(/^/gm, '  '));
}
