import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { watch } from 'chokidar';
import type { Context } from '../context';
import { Failure, usage } from '../failure';
import { findProject, readResource } from '../project/project';
import { Trials, type Outcome, type ProxyTrial } from '../project/trial';
import { readText } from '../project/yaml-file';
import { wordsOf } from '../words-of-outcome';

interface DevOptions {
  readonly args?: string;
  readonly once?: boolean;
  readonly network?: boolean;
  readonly svc?: boolean;
}

/** Runs the code of files in the sandbox, now and after each change of one of them. */
export async function dev(context: Context, options: DevOptions, slug: string): Promise<void> {
  const { cwd, terminal } = context;
  const root = findProject(cwd);
  const run = runOf(context, options, root, slug);
  if (options.once) {
    const outcome = await terminal.progress('running', run(new Set()));
    show(context, outcome);
    if (outcome.status === 'completed') return;
    throw new Failure('failed', `${slug} failed.`);
  }
  await watchAndRun(context, root, run);
}

type Run = (watched: Set<string>) => Promise<Outcome>;

function runOf(context: Context, options: DevOptions, root: string, slug: string): Run {
  const { cwd, env } = context;
  const trials = new Trials(root, env, context.api());
  const { kind } = readResource(root, slug);
  const folder = kind === 'reactor' ? `reactors/${slug}` : `proxies/${slug}`;
  const usual = `${folder}/${kind === 'reactor' ? 'args' : 'call'}.json`;
  const input = options.args === undefined ? usual : relative(root, resolve(cwd, options.args));
  const { network = false, svc = false } = options;
  return async (watched) => {
    watched.add(input).add('glovebox.yaml');
    const files = readResource(root, slug);
    watched.add(files.yaml.name);
    const add = (names: readonly string[]): void => names.forEach((name) => void watched.add(name));
    const isThere = options.args !== undefined || existsSync(join(root, input));
    const given = isThere ? parse(input, readText(root, input)) : {};
    return files.kind === 'reactor'
      ? trials.reactor(files, { args: given, network, svc }, add)
      : trials.proxy(files, given as ProxyTrial, add);
  };
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usage(`${name}: ${(error as Error).message}`);
  }
}

async function watchAndRun(context: Context, root: string, run: Run): Promise<void> {
  const { terminal, signal } = context;
  const watched = new Set<string>();
  const ignored = /(?:^|[/\\])(?:node_modules|\.git|\.glovebox)(?:[/\\]|$)/;
  const watcher = watch(root, {
    ignored: (path) => ignored.test(relative(root, path)),
    ignoreInitial: true,
    // A save that replaces the file is one change.
    atomic: 20,
  });
  let changed: (() => void) | undefined;
  let changedAt: number | undefined;
  watcher.on('all', (_, path) => {
    if (!watched.has(relative(root, path).replaceAll('\\', '/'))) return;
    changedAt ??= performance.now();
    changed?.();
  });
  const isReady = new Promise<void>((done) => void watcher.once('ready', done));
  const isOver = new Promise<void>((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
  try {
    await isReady;
    while (!signal.aborted) {
      const savedAt = changedAt;
      changedAt = undefined;
      watched.clear();
      await once(context, run, watched, savedAt);
      const isChanged = new Promise<void>((done) => (changed = done));
      // A change while it ran has been noted already.
      if (changedAt === undefined) await Promise.race([isChanged, isOver]);
    }
  } finally {
    await watcher.close();
  }
  terminal.say('');
}

async function once(
  context: Context,
  run: Run,
  watched: Set<string>,
  savedAt: number | undefined,
): Promise<void> {
  const { terminal, signal } = context;
  try {
    const outcome = await terminal.progress('running', run(watched));
    show(context, outcome, savedAt);
  } catch (error) {
    if (signal.aborted) return;
    // The next save may mend it.
    if (!(error instanceof Failure)) throw error;
    const { message, hint } = error;
    terminal.result({ status: 'not_run', message, ...(hint === undefined ? {} : { hint }) }, () =>
      [`${terminal.paint('red', '✗')} ${message}`, ...(hint === undefined ? [] : [hint])].join(
        '\n',
      ),
    );
  }
}

function show({ terminal }: Context, outcome: Outcome, savedAt?: number): void {
  const sinceMs = savedAt === undefined ? undefined : Math.round(performance.now() - savedAt);
  const value = { ...outcome, ...(sinceMs === undefined ? {} : { since_save_ms: sinceMs }) };
  terminal.result(value, () => wordsOf(outcome, terminal, sinceMs));
}
