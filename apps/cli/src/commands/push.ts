import { GloveboxError } from '@glovebox/client';
import { deployingMs, type Context } from '../context';
import { Failure } from '../failure';
import { Refusal } from '../failure-of-call';
import { itemOf, type LocalItem } from '../project/items';
import { Positions } from '../project/positions';
import { findProject, readProject, readProjectFile } from '../project/project';
import { lackedBundles, uploadBundles } from '../project/upload';
import { plain } from '../terminal';
import { conflictingSlugs, conflictOf, wordsOf } from '../words-of-deployment';
import { forcedPull } from './pull';

interface PushOptions {
  readonly message?: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  readonly force?: boolean;
}

/** Deploys the folder: all of it, or nothing. */
export async function push(context: Context, options: PushOptions): Promise<void> {
  const { terminal, env, cwd } = context;
  const root = findProject(cwd);
  const locals = await terminal.progress('bundling', itemsOf(root, env));
  const { message, dryRun = false, prune = false, force = false } = options;
  const { project } = readProjectFile(root);
  const body = {
    ...(message === undefined ? {} : { message }),
    ...(project === undefined ? {} : { project }),
    ...{ dry_run: dryRun, prune, force },
    // Their members are checked there.
    items: locals.map(({ item }) => item as never),
  };
  const api = context.api();
  const deploy = () => api.post('/deployments', { body, timeoutMs: deployingMs });
  const pushing = deploy().catch(async (error: unknown) => {
    const lacked = lackedBundles(error, locals);
    if (lacked.length === 0) throw error;
    await uploadBundles(api, lacked, (at, refused) => {
      if (!(refused instanceof GloveboxError)) return refused;
      return explained(new Refusal(refused), root, locals, at);
    });
    return deploy();
  });
  const deployment = await terminal
    .progress(dryRun ? 'asking what would change' : 'deploying', pushing)
    .catch((error: unknown) => {
      throw error instanceof GloveboxError ? explained(new Refusal(error), root, locals) : error;
    });
  terminal.result({ dry_run: dryRun, ...deployment }, () => wordsOf(deployment, dryRun, context));
}

async function itemsOf(root: string, env: Context['env']): Promise<LocalItem[]> {
  const locals: LocalItem[] = [];
  for (const files of readProject(root)) locals.push(await itemOf(root, files, env));
  return locals;
}

const afterConflict = (refusal: Refusal): string =>
  `\`${forcedPull(conflictingSlugs(refusal))}\` takes their version of these into the files, and keeps copies of yours; \`glovebox push --force\` overwrites theirs.`;

/** Errors name the file and the line in place of the number of an item. */
function explained(
  refusal: Refusal,
  root: string,
  locals: readonly LocalItem[],
  uploadedFor?: string,
): Failure {
  const { problem, exit } = refusal;
  if (problem.code === 'deployment_conflict') return conflictOf(refusal, afterConflict(refusal));
  const entries = Object.entries(problem.errors ?? {}).map(
    ([path, texts]) => [uploadedFor ?? path, texts] as const,
  );
  if (!entries.some(([path]) => path.startsWith('items.'))) return refusal;
  const lines = entries.map(([path, texts]) => {
    const [, nth = '', member = ''] = /^items\.(\d+)\.?(.*)$/.exec(path) ?? [];
    const local = locals[Number(nth)];
    const text = texts.join(', ');
    return local && nth !== '' ? placed(root, local, member, text) : `${path}: ${text}`;
  });
  const title = `${problem.title} Nothing was changed. (${problem.code})`;
  return new Failure(exit, title, plain(lines.join('\n')), { ...problem });
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
