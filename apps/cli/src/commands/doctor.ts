import { GloveboxError } from '@glovebox/client';
import { callConsole } from '../call-console';
import { isInTheClear } from '../connection';
import { callsWith, type Context } from '../context';
import { Failure } from '../failure';
import { whyNot } from '../failure-of-call';
import { plain } from '../terminal';
import { version } from '../version';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
  /** How to mend it. */
  readonly mend?: string;
}

const clockToleranceMs = 5_000;
const healthWithinMs = 15_000;
/** Of what the address says, so much is read. */
const healthBytes = 16 * 1024;
/** Commands, and what they need. */
const needs: readonly (readonly [command: string, permissions: readonly string[]])[] = [
  ['dev, test', ['reactor:update', 'proxy:update']],
  ['push', ['deployment:create']],
  ['pull, diff, invoke by name', ['reactor:read', 'proxy:read', 'application:read']],
  ['logs', ['log:read']],
];

/** Looks at one thing after the other, and says of each what it found. */
export async function doctor(context: Context): Promise<void> {
  const { terminal } = context;
  const checks: Check[] = [];
  for await (const check of examine(context)) {
    checks.push(check);
    if (!terminal.isJson) terminal.result(undefined, linesOf(check, context));
  }
  const wrong = checks.filter(({ ok }) => !ok);
  if (terminal.isJson) terminal.result({ ok: wrong.length === 0, checks }, '');
  if (wrong.length > 0) {
    throw new Failure(
      'failed',
      `${wrong.length} of ${checks.length} checks failed.`,
      'For Glovebox itself there is `npm run doctor` of its operator.',
      { checks: wrong.map(({ name }) => name) },
    );
  }
}

async function* examine(context: Context): AsyncGenerator<Check> {
  const { terminal, signal } = context;
  const { url, from, holdsKeyBack } = context.connection();
  const isClear = isInTheClear(url);
  yield {
    name: 'URL',
    ok: !isClear,
    says: isClear ? `${url} sends keys and data in the clear` : url,
    ...(isClear ? { mend: 'Use https.' } : {}),
  };
  if (holdsKeyBack) return;
  const begun = performance.now();
  const asking = healthOf(url, signal).catch(whyNot);
  const health = await terminal.progress(`asking ${url}`, asking);
  if (typeof health === 'string') {
    const mend = `Is the URL right, and does Glovebox run there? Give another with --url.`;
    yield { name: 'answer', ok: false, says: `${url} does not answer: ${health}`, mend };
    return;
  }
  const tookMs = Math.round(performance.now() - begun);
  yield* ofHealth(health.answer, tookMs, health.text);
  yield ofClock(health.answer.headers.get('date'));
  yield* await ofKey(context, url, from);
}

/** Whatever listens there, the doctor comes to an end. */
async function healthOf(url: string, signal: AbortSignal) {
  const within = AbortSignal.any([signal, AbortSignal.timeout(healthWithinMs)]);
  const answer = await fetch(`${url}/health/ready`, { signal: within, redirect: 'error' });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= healthBytes) break;
  }
  return { answer, text: Buffer.concat(chunks).toString('utf8') };
}

function* ofHealth(answer: Response, tookMs: number, text: string): Generator<Check> {
  const says = `${answer.status} in ${tookMs} ms`;
  const mend = `It said: ${text.slice(0, 500)}\nIts operator runs \`npm run doctor\` there.`;
  yield answer.ok
    ? { name: 'answer', ok: true, says }
    : { name: 'answer', ok: false, says: `not ready: ${says}`, mend };
}

function ofClock(date: string | null): Check {
  const name = 'clock';
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return { name, ok: true, says: 'the answer has no date' };
  // The header has whole seconds.
  const awayMs = Date.now() - theirs;
  if (awayMs > -clockToleranceMs && awayMs < clockToleranceMs + 1_000) {
    return { name, ok: true, says: 'as there' };
  }
  const says = `${Math.round(awayMs / 1_000)} s from that of Glovebox`;
  return {
    name,
    ok: false,
    says,
    mend: 'Set the clock of this machine (NTP), or tell the operator.',
  };
}

async function ofKey(context: Context, url: string, from: string): Promise<Check[]> {
  const { signal, terminal } = context;
  const checks: Check[] = [];
  const kinds = [
    { name: 'management key', key: context.connection().managementKey, isWanted: true },
    {
      name: 'private key',
      key: context.connection().privateKey,
      isWanted: context.connection().hasPrivateKey,
    },
  ];
  for (const { name, key, isWanted } of kinds) {
    if (!isWanted) {
      const says = 'none: `invoke` alone needs one. `glovebox login` stores it beside the other';
      checks.push({ name, ok: true, says });
      continue;
    }
    try {
      if (name === 'management key' && context.connection().isOfPerson) {
        checks.push(...(await ofSession(context)));
        continue;
      }
      const asking = callsWith(key(), url, signal).get('/applications/key');
      const application = await terminal.progress('asking about the key', asking);
      const held = [
        ...(application.permissions ?? []),
        ...(application.rules ?? []).flatMap(({ permissions }) => permissions),
      ];
      const ends = application.expires_at ? `, until ${application.expires_at}` : '';
      const says = `${application.name} (${application.type}), ${from}${ends}`;
      checks.push({ name, ok: true, says });
      if (name === 'management key') checks.push(...mayDo(application.type, held));
    } catch (error) {
      const failure = context.explained(error);
      if (!(failure instanceof Failure)) throw error;
      const isRefused = error instanceof GloveboxError;
      const mend = isRefused ? 'Log in again: `glovebox login`.' : failure.hint;
      const says = failure.message;
      checks.push({ name, ok: false, says, ...(mend === undefined ? {} : { mend }) });
    }
  }
  return [...checks, await ofVersions(context)];
}

async function ofSession(context: Context): Promise<Check[]> {
  interface Session {
    readonly person: { readonly name: string };
    readonly role: string;
    readonly permissions: readonly string[];
  }
  const { terminal, signal } = context;
  const { managementUrl, managementKey, from } = context.connection();
  const asked = { method: 'GET', key: managementKey(), signal } as const;
  const asking = callConsole<Session>(managementUrl, '/console/session', asked);
  const { person, role, permissions } = await terminal.progress('asking about the session', asking);
  const says = `${person.name} (${role}), signed in by the console, ${from}`;
  return [{ name: 'session', ok: true, says }, ...mayDo('management', permissions)];
}

async function ofVersions(context: Context): Promise<Check> {
  const mine = `glovebox ${version}, Node ${process.version}`;
  try {
    const { processes = [] } = await context.api().get('/overview');
    const theirs = [...new Set(processes.map((one) => one.version))].sort().join(', ');
    return { name: 'versions', ok: true, says: `${mine}; there ${theirs}` };
  } catch (error) {
    if (!(context.explained(error) instanceof Failure)) throw error;
    // The key may read no log: the versions there stay unknown, and nothing depends on them.
    return { name: 'versions', ok: true, says: `${mine}; there unknown, without log:read` };
  }
}

function mayDo(type: string, held: readonly string[]): Check[] {
  if (type !== 'management') {
    const says = `a ${type} application deploys nothing`;
    const mend = 'Log in with a key of a management application.';
    return [{ name: 'permissions', ok: false, says, mend }];
  }
  return needs.map(([command, permissions]) => {
    const missing = permissions.filter((permission) => !held.includes(permission));
    const says =
      missing.length === 0 ? 'allowed' : `not with this key, without ${missing.join(', ')}`;
    // A key that may do less than everything is no fault.
    return { name: command, ok: true, says };
  });
}

function linesOf({ name, ok, says, mend }: Check, { terminal }: Context): string {
  const mark = ok ? terminal.paint('green', '✓') : terminal.paint('red', '✗');
  const line = `${mark} ${name.padEnd(28)} ${plain(says)}`;
  return mend === undefined ? line : `${line}\n${plain(mend).replace(/^/gm, '    ')}`;
}
