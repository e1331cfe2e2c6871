import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context';
import { Failure, usage } from '../failure';
import { Inspection, type InspectOptions } from '../inspector/inspection';
import { patientFetch } from '../inspector/patient-fetch';
import { FolderWatch } from '../project/folder-watch';
import { readNamed, readText } from '../project/own-files';
import { findProject, projectFile, readResource } from '../project/project';
import { Trials, type Outcome, type ProxyTrial } from '../project/trial';
import { plain } from '../terminal';
import { wordsOf } from '../words-of-outcome';

interface DevOptions extends InspectOptions {
  readonly args?: string;
  readonly once?: boolean;
  readonly network?: boolean;
  readonly svc?: boolean;
}

/** Runs the code of files in the sandbox, now and after each change of one of them. */
export async function dev(context: Context, options: DevOptions, slug: string): Promise<void> {
  const root = findProject(context.cwd);
  if (options.inspect === undefined) return runs(context, options, root, slug);
  if (options.svc) {
    throw usage('--inspect and --svc exclude each other.', 'A debugger sees no values of tokens.');
  }
  const inspection = await Inspection.open(context, options, root, codeFileOf(root, slug));
  try {
    await runs(context, options, root, slug, inspection);
  } finally {
    inspection.close();
  }
}

async function runs(
  context: Context,
  options: DevOptions,
  root: string,
  slug: string,
  inspection?: Inspection,
): Promise<void> {
  const run = runOf(context, options, root, slug, inspection);
  if (!options.once) return watchAndRun(context, root, run);
  const outcome = await run(() => undefined);
  show(context, outcome);
  if (outcome.status === 'completed') return;
  throw new Failure('failed', `${slug} failed.`);
}

/** The one that debuggers list. */
function codeFileOf(root: string, slug: string): string {
  const files = readResource(root, slug);
  const code = files.kind === 'reactor' ? files.code : (files.request ?? files.response);
  if (code) return code.file;
  throw usage(`proxies/${slug} has no code to inspect.`, 'Its code is request.ts and response.ts.');
}

type Run = (watch: (file: string) => void) => Promise<Outcome>;

function runOf(
  context: Context,
  options: DevOptions,
  root: string,
  slug: string,
  inspection: Inspection | undefined,
): Run {
  const { cwd, env, terminal } = context;
  const api = context.api(context.signal, inspection && patientFetch);
  const trials = new Trials(root, env, api, inspection);
  const { kind } = readResource(root, slug);
  const folder = kind === 'reactor' ? `reactors/${slug}` : `proxies/${slug}`;
  const usual = `${folder}/${kind === 'reactor' ? 'args' : 'call'}.json`;
  const input = options.args === undefined ? usual : relative(root, resolve(cwd, options.args));
  const { network = false, svc = false } = options;
  const runOnce: Run = async (watched) => {
    [input, projectFile, `${folder}/${kind}.yaml`].forEach(watched);
    const files = readResource(root, slug);
    const add = (names: readonly string[]): void => names.forEach(watched);
    const isThere = options.args !== undefined || existsSync(join(root, input));
    const read = options.args === undefined ? readText : readNamed;
    const given = isThere ? parse(input, read(root, input)) : {};
    return files.kind === 'reactor'
      ? trials.reactor(files, { args: given, network, svc }, add)
      : trials.proxy(files, given as ProxyTrial, add);
  };
  // While it is inspected, what it waits for is said.
  return inspection ? runOnce : (watched) => terminal.progress('running', runOnce(watched));
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usage(`${name}: ${(error as Error).message}`);
  }
}

/** A save empties a file before it fills it. */
const settleMs = 10;

async function watchAndRun(context: Context, root: string, run: Run): Promise<void> {
  const { signal } = context;
  const watch = new FolderWatch(root, signal);
  try {
    await watch.ready();
    let savedAt: number | undefined;
    while (!signal.aborted) {
      // Noted before a file is read, so that no save is lost.
      const before = new Map<string, string>();
      const note = (file: string): void => {
        if (!before.has(file)) before.set(file, stateOf(root, file));
      };
      await once(context, run, note, savedAt);
      const isChanged = (): boolean =>
        [...before].some(([file, state]) => stateOf(root, file) !== state);
      while (!signal.aborted && !isChanged()) {
        await watch.next();
        savedAt = performance.now();
      }
      await sleep(settleMs);
    }
  } finally {
    await watch.close();
  }
}

async function once(
  context: Context,
  run: Run,
  note: (file: string) => void,
  savedAt: number | undefined,
): Promise<void> {
  const { terminal, signal } = context;
  try {
    const outcome = await run(note);
    show(context, outcome, savedAt);
  } catch (error) {
    if (signal.aborted) return;
    const failure = context.explained(error);
    // The next save may mend it.
    if (!(failure instanceof Failure)) throw error;
    const { message, hint } = failure;
    terminal.result({ status: 'not_run', message, ...(hint === undefined ? {} : { hint }) }, () =>
      [
        `${terminal.paint('red', '✗')} ${plain(message)}`,
        ...(hint === undefined ? [] : [plain(hint)]),
      ].join('\n'),
    );
  }
}

/** Changes with the file. */
function stateOf(root: string, file: string): string {
  const found = statSync(join(root, file), { throwIfNoEntry: false });
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'none';
}

function show({ terminal }: Context, outcome: Outcome, savedAt?: number): void {
  const sinceMs = savedAt === undefined ? undefined : Math.round(performance.now() - savedAt);
  const value = { ...outcome, ...(sinceMs === undefined ? {} : { since_save_ms: sinceMs }) };
  terminal.result(value, () => wordsOf(outcome, terminal, sinceMs));
}
