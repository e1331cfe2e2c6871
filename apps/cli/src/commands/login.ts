import { GloveboxError } from '@glovebox/client';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  defaultUrl,
  isInTheClear,
  nameOf,
  profilesFile,
  readProfiles,
  urlOf,
  writeProfiles,
  type Profiles,
  type Session,
} from '../connection';
import { callConsole } from '../call-console';
import { consoleOf } from '../console-address';
import { callsWith, type Context } from '../context';
import { Failure, usage } from '../failure';
import { signIn } from '../sign-in';
import { plain } from '../terminal';

interface LoginOptions {
  readonly allowHttp?: boolean;
  readonly web?: boolean;
}

/** Stores a key for the URL, beside that of the other kind if there is one. */
export async function login(context: Context, { allowHttp, web }: LoginOptions): Promise<void> {
  const { asked, env, terminal, signal } = context;
  const name = nameOf(asked, env);
  const known = readProfiles(env)[name];
  const url = urlOf(asked.url ?? env.GLOVEBOX_URL ?? known?.url ?? defaultUrl);
  const console = web ? urlOf(consoleOf(context, url)) : url;
  const inTheClear = [url, console].find(isInTheClear);
  if (inTheClear !== undefined && !allowHttp) {
    throw usage(`${inTheClear} is not encrypted.`, 'Use https, or say --allow-http.');
  }
  if (web) return signIn(context, { name, url, console });
  const key = await readKey(context, url);
  const asking = callsWith(key, url, signal).get('/applications/key');
  const application = await terminal.progress(`asking ${url}`, asking);
  const { type } = application;
  if (type === 'public') {
    throw new Failure('refused', 'That is a key of a public application, which runs nothing.');
  }
  // Another login may have stored a key meanwhile.
  const profiles = readProfiles(env);
  const kept = profiles[name]?.url === url ? profiles[name] : { url };
  const { session: _, ...others } = kept;
  const changed =
    type === 'management' ? { ...others, managementKey: key } : { ...kept, privateKey: key };
  writeProfiles(env, { ...profiles, [name]: changed });
  const file = profilesFile(env);
  terminal.result(
    { profile: name, url, application: { id: application.id, name: application.name, type }, file },
    `${terminal.paint('green', '✓')} ${plain(application.name)} (${type}) at ${url}, in ${file}`,
  );
}

export async function logout(context: Context): Promise<void> {
  const { asked, env, terminal } = context;
  const name = nameOf(asked, env);
  const gone = readProfiles(env)[name];
  const fault = gone?.session && (await endSession(context, gone.session));
  if (gone) writeProfiles(env, without(name, readProfiles(env)));
  if (fault) {
    const why = plain(fault.message);
    terminal.say(`The session lives until ${gone?.session?.expiresAt}: ${why}`);
  }
  const words = gone ? `The keys for ${gone.url} are deleted.` : 'There was nothing to delete.';
  terminal.result({ profile: name, deleted: gone !== undefined }, words);
}

function without(name: string, { [name]: _, ...others }: Profiles): Profiles {
  return others;
}

/** Why it may live on, if it may. */
async function endSession(
  { terminal, signal }: Context,
  { url, key }: Session,
): Promise<Error | undefined> {
  try {
    const ending = callConsole(url, '/console/session', { method: 'DELETE', key, signal });
    await terminal.progress('ending the session', ending);
    return undefined;
  } catch (error) {
    return error instanceof GloveboxError && error.status === 401 ? undefined : (error as Error);
  }
}

async function readKey({ env, terminal, signal }: Context, url: string): Promise<string> {
  const given = env.GLOVEBOX_KEY || (process.stdin.isTTY ? await askFor(url) : await piped());
  const key = given.trim();
  if (signal.aborted) throw new Failure('interrupted', 'Interrupted.');
  if (/^[!-~]{8,300}$/.test(key)) return key;
  terminal.say('A key is like key_… of `POST /applications`, or of the start of Glovebox.');
  throw usage(key === '' ? 'There was no key on standard input.' : 'That is no key.');

  function piped(): Promise<string> {
    return text(process.stdin);
  }
}

/** Nothing of the key is shown while it is typed. */
function askFor(url: string): Promise<string> {
  process.stderr.write(`Key for ${url}: `);
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(''));
    lines.once('SIGINT', () => process.emit('SIGINT'));
    lines.once('line', (line) => {
      process.stderr.write('\n');
      resolve(line);
      lines.close();
    });
  });
}
