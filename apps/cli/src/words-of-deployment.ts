import type { components } from '@glovebox/client';
import type { Context } from './context';
import { Failure } from './failure';
import type { Refusal } from './failure-of-call';
import { plain, type Paint } from './terminal';

type Deployed = components['schemas']['Deployed'];
type Change = Deployed['changes'][number];

interface Conflict {
  readonly kind: Change['kind'];
  readonly slug: string;
  readonly members: readonly string[];
  /** The other project that put it in force. */
  readonly project?: string;
  readonly deployed?: Readonly<Record<string, unknown>>;
  readonly current?: Readonly<Record<string, unknown>>;
}

const marks: Readonly<Record<Change['change'], readonly [string, Paint]>> = {
  created: ['+', 'green'],
  updated: ['~', 'yellow'],
  unchanged: ['=', 'dim'],
  pruned: ['-', 'red'],
};

/** What a deployment changed, or would change. */
export function wordsOf({ id, changes }: Deployed, dryRun: boolean, { terminal }: Context): string {
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
  return [...lines, ...rest, end].join('\n');
}

const conflictsIn = ({ problem }: Refusal): readonly Conflict[] =>
  (problem as { readonly conflicts?: readonly Conflict[] }).conflicts ?? [];

/** The names of what somebody else has changed. */
export const conflictingSlugs = (refusal: Refusal): string[] => [
  ...new Set(conflictsIn(refusal).map(({ slug }) => slug)),
];

/** Tells what somebody else has changed, member by member. */
export function conflictOf(refusal: Refusal, mend: string): Failure {
  const lines = conflictsIn(refusal).flatMap(
    ({ kind, slug, members, project, deployed, current }) => [
      `${kind} ${slug}: ${[...(project === undefined ? [] : [`deployed by the project ${project}`]), ...members].join(', ')}`,
      ...members.flatMap((member) => [
        ...(deployed?.[member] === undefined ? [] : [`  - ${inOneLine(deployed[member])}`]),
        ...(current?.[member] === undefined ? [] : [`  + ${inOneLine(current[member])}`]),
      ]),
    ],
  );
  return new Failure(
    'conflict',
    'Changed by somebody else since the last deployment, or deployed by another project. Nothing was changed.',
    plain([...lines, mend].join('\n')),
    { ...refusal.problem },
  );
}

const shownMax = 200;

function inOneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.replaceAll('\n', ' ⏎ ');
  return line.length > shownMax ? `${line.slice(0, shownMax)}…` : line;
}
