import { ApiProblem } from '../api';
import type { Context } from '../context';
import { Failure } from '../failure';
import { itemOf, type Kind, type LocalItem } from '../project/items';
import { Positions } from '../project/positions';
import { findProject, readProject } from '../project/project';
import { plain, type Paint } from '../terminal';

interface PushOptions {
  readonly message?: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  readonly force?: boolean;
}

interface Change {
  readonly kind: Kind;
  readonly slug: string;
  readonly id: string;
  readonly change: 'created' | 'updated' | 'unchanged' | 'pruned';
  readonly members?: readonly string[];
}

interface Deployment {
  readonly id?: string;
  readonly changes: readonly Change[];
}

interface Conflict {
  readonly kind: Kind;
  readonly slug: string;
  readonly members: readonly string[];
  readonly deployed?: Readonly<Record<string, unknown>>;
  readonly current?: Readonly<Record<string, unknown>>;
}

const marks: Readonly<Record<Change['change'], readonly [string, Paint]>> = {
  created: ['+', 'green'],
  updated: ['~', 'yellow'],
  unchanged: ['=', 'dim'],
  pruned: ['-', 'red'],
};

/** Deploys the folder: all of it, or nothing. */
export async function push(context: Context, options: PushOptions): Promise<void> {
  const { terminal, env, cwd } = context;
  const root = findProject(cwd);
  const locals: LocalItem[] = [];
  for (const files of readProject(root)) locals.push(await itemOf(root, files, env));
  const { message, dryRun = false, prune = false, force = false } = options;
  const body = {
    ...(message === undefined ? {} : { message }),
    ...{ dry_run: dryRun, prune, force },
    items: locals.map(({ item }) => item),
  };
  const pushing = context.api().post<Deployment>('/deployments', body);
  const deployment = await terminal
    .progress(dryRun ? 'asking what would change' : 'deploying', pushing)
    .catch((error: unknown) => {
      throw error instanceof ApiProblem ? explained(error, root, locals) : error;
    });
  terminal.result({ dry_run: dryRun, ...deployment }, () => wordsOf(deployment, dryRun, context));
}

function wordsOf({ id, changes }: Deployment, dryRun: boolean, { terminal }: Context): string {
  const lines = changes
    .filter(({ change }) => change !== 'unchanged')
    .map(({ kind, slug, change, members = [] }) => {
      const [mark, paint] = marks[change];
      const which = members.length > 0 ? terminal.paint('dim', ` (${members.join(', ')})`) : '';
      return `${terminal.paint(paint, mark)} ${kind} ${slug} ${change}${which}`;
    });
  const unchanged = changes.length - lines.length;
  const rest = unchanged > 0 ? [terminal.paint('dim', `= ${unchanged} unchanged`)] : [];
  const end = dryRun
    ? 'Nothing was changed: this was a dry run.'
    : lines.length === 0
      ? 'There was nothing to change.'
      : `In force. Deployment ${id ?? ''}`;
  return plain('') + [...lines, ...rest, end].join('\n');
}

/** Errors name the file and the line in place of the number of an item. */
function explained(error: ApiProblem, root: string, locals: readonly LocalItem[]): Failure {
  const { problem } = error;
  if (problem.code === 'deployment_conflict') return conflictOf(error);
  const entries = Object.entries(problem.errors ?? {});
  if (!entries.some(([path]) => path.startsWith('items.'))) return error;
  const lines = entries.map(([path, texts]) => {
    const [, nth = '', member = ''] = /^items\.(\d+)\.?(.*)$/.exec(path) ?? [];
    const local = locals[Number(nth)];
    const text = texts.join(', ');
    return local && nth !== '' ? placed(root, local, member, text) : `${path}: ${text}`;
  });
  const title = `${problem.title} Nothing was changed. (${problem.code})`;
  return new Failure(error.exit, title, plain(lines.join('\n')), error.details);
}

function placed(root: string, { files, bundles }: LocalItem, member: string, text: string): string {
  const made = bundles[member];
  if (made) {
    const [, line, rest = text] = /^line (\d+): (.*)$/s.exec(text) ?? [];
    const at = line === undefined ? undefined : { line: Number(line), column: 1 };
    const place = at && new Positions(root, made).placeOf(at);
    return place ? `${place.file}:${place.line}: ${rest}` : `${made.file}: ${text}`;
  }
  const inFile = member.replace(/^formula\./, '').split('.');
  const path = inFile.map((name) => (/^\d+$/.test(name) ? Number(name) : name));
  const { message } = files.yaml.failAt(path, text);
  return path.length > 0 ? `${message} (${inFile.join('.')})` : message;
}

function conflictOf(error: ApiProblem): Failure {
  const conflicts = (error.problem.conflicts ?? []) as readonly Conflict[];
  const lines = conflicts.flatMap(({ kind, slug, members, deployed, current }) => [
    `${kind} ${slug}: ${members.join(', ')}`,
    ...members.flatMap((member) => [
      ...(deployed?.[member] === undefined ? [] : [`  - ${inOneLine(deployed[member])}`]),
      ...(current?.[member] === undefined ? [] : [`  + ${inOneLine(current[member])}`]),
    ]),
  ]);
  return new Failure(
    'conflict',
    'Changed by somebody else since the last deployment. Nothing was changed.',
    plain(
      [
        ...lines,
        '`glovebox pull --force` takes their version into the files; `glovebox push --force` overwrites it.',
      ].join('\n'),
    ),
    error.details,
  );
}

const shownMax = 200;

function inOneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.replaceAll('\n', ' ⏎ ');
  return line.length > shownMax ? `${line.slice(0, shownMax)}…` : line;
}
