import { GloveboxError, type components } from '@glovebox/client';
import { deployingMs, type Context } from '../context';
import { Failure, usage } from '../failure';
import { Refusal } from '../failure-of-call';
import { projectAround, readProjectFile } from '../project/project';
import { plain } from '../terminal';
import { conflictOf, wordsOf } from '../words-of-deployment';

type Deployment = components['schemas']['Deployment'];

/** More than are kept. */
const listedMax = 100;

/** What was deployed, the newest first. */
export async function deployments(
  context: Context,
  { number }: { readonly number: string },
): Promise<void> {
  const { terminal } = context;
  const count = Number(number);
  if (!Number.isInteger(count) || count < 1 || count > listedMax) {
    throw usage(`--number is a number from 1 to ${listedMax}.`);
  }
  const found = await terminal.progress('reading the deployments', newest(context, count));
  for (const one of found) terminal.result(one, () => lineOf(one, context));
  if (found.length === 0) terminal.say('Nothing was deployed yet.');
}

async function newest(context: Context, size: number): Promise<readonly Deployment[]> {
  return (await context.api().get('/deployments', { params: { query: { size } } })).data;
}

function lineOf(deployed: Deployment, { terminal }: Context): string {
  const { id, created_at: at, actor, counts, message, project, rollback_of: back } = deployed;
  const changes = `+${counts.created} ~${counts.updated} -${counts.pruned}`;
  const words = [
    ...(project === undefined ? [] : [project]),
    ...(actor ? [`by ${actor.name ?? actor.id}`] : []),
    ...(back === undefined ? [] : [`back to ${back}`]),
    ...(message === undefined ? [] : [message]),
  ];
  const when = terminal.paint('dim', `${at.slice(0, 19)}Z`);
  return `${id} ${when} ${changes} ${plain(words.join(', ').replaceAll('\n', ' '))}`;
}

interface RollbackOptions {
  readonly message?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  /** Whose deployment before is meant. Absent: that of the folder. */
  readonly project?: string;
}

const afterConflict = '`glovebox rollback --force` overwrites it.';

/** Puts in force what a deployment had put in force. */
export async function rollback(
  context: Context,
  { message, dryRun = false, force = false, project }: RollbackOptions,
  id?: string,
): Promise<void> {
  const { terminal } = context;
  const { to, newestId } =
    id === undefined
      ? await terminal.progress('reading the deployments', theOneBefore(context, project))
      : { to: id, newestId: undefined };
  const body = {
    ...(message === undefined ? {} : { message }),
    ...(newestId === undefined ? {} : { newest_id: newestId }),
    ...{ dry_run: dryRun, force },
  };
  // Servers of before do not know `newest_id`, and are not to refuse it.
  const params = { path: { id: to }, header: { 'SVC-STRICT': newestId === undefined } };
  const returning = context
    .api()
    .post('/deployments/{id}/rollback', { params, body, timeoutMs: deployingMs });
  const deployment = await terminal
    .progress(dryRun ? 'asking what would change' : 'rolling back', returning)
    .catch((error: unknown) => {
      throw refused(error);
    });
  const value = { dry_run: dryRun, rollback_of: to, ...deployment };
  terminal.result(value, () => `Back to ${to}\n${wordsOf(deployment, dryRun, context)}`);
}

function refused(error: unknown): unknown {
  if (!(error instanceof GloveboxError) || error.problem.code !== 'deployment_conflict') {
    return error;
  }
  const refusal = new Refusal(error);
  if ('conflicts' in error.problem) return conflictOf(refusal, afterConflict);
  return new Failure('conflict', refusal.message, 'Look at `glovebox deployments`, and decide.', {
    ...error.problem,
  });
}

/**
 * The deployment of the project before that which is in force, and the newest. A rollback put an older one in force, so
 * that a second rollback goes further back and does not return to what was bad.
 */
async function theOneBefore(
  context: Context,
  asked: string | undefined,
): Promise<{ readonly to: string; readonly newestId: string | undefined }> {
  const project = asked ?? projectOfFolder(context);
  const all = await newest(context, listedMax);
  const kept = all.filter((one) => one.project === project);
  let inForce = 0;
  for (let back = kept[0]?.rollback_of; back !== undefined; back = kept[inForce]?.rollback_of) {
    inForce = kept.findIndex(({ id }) => id === back);
    if (inForce < 0) break;
  }
  const before = inForce < 0 ? undefined : kept[inForce + 1];
  if (before) return { to: before.id, newestId: kept[0]?.id };
  throw usage(
    'There is no deployment before that which is in force.',
    '`glovebox deployments` lists those that are kept; `glovebox rollback ID` returns to one.',
  );
}

function projectOfFolder({ cwd }: Context): string | undefined {
  const folder = projectAround(cwd);
  if (folder !== undefined) return readProjectFile(folder).project;
  throw usage(
    'This is no folder of a project: which deployment is meant?',
    'Say `glovebox rollback ID` or `--project NAME`. `glovebox deployments` lists them.',
  );
}
