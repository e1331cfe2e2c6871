import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf, Failure, usage } from './failure';

/** Where to, as options of the command say it. */
export interface Asked {
  readonly profile?: string;
  readonly url?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Keys go to the URL that they were stored for, and to no other. */
export interface Profile {
  readonly url: string;
  /** Of a management application. */
  readonly managementKey?: string;
  /** Of a person who signed this machine in, in place of that key. */
  readonly session?: Session;
  /** Of a private application: it uses tokens, and runs reactors. */
  readonly privateKey?: string;
}

/** Sessions are known to the console alone: what manages goes there. */
export interface Session {
  readonly url: string;
  readonly key: string;
  readonly expiresAt: string;
}

export type Profiles = Readonly<Record<string, Profile>>;

export interface Connection {
  readonly url: string;
  readonly profileName: string;
  /** Where the keys come from, in words. */
  readonly from: string;
  readonly hasPrivateKey: boolean;
  /** Where the calls go that manage. */
  readonly managementUrl: string;
  /** Whether a person signed this machine in. */
  readonly isOfPerson: boolean;
  /** Whether a key of the environment is held back, because it would travel in the clear. */
  readonly holdsKeyBack: boolean;
  managementKey(): string;
  privateKey(): string;
}

export const defaultUrl = 'http://127.0.0.1:8080';
const defaultProfile = 'default';

/** Options win over the environment, and this wins over what is stored. */
export function connectionOf(asked: Asked, env: Environment): Connection {
  const profileName = nameOf(asked, env);
  const stored = readProfiles(env)[profileName];
  const url = urlOf(asked.url ?? env.GLOVEBOX_URL ?? stored?.url ?? defaultUrl);
  const isOfUrl = stored?.url === url;
  const fromProfile = `profile "${profileName}" in ${profilesFile(env)}`;
  const session = !env.GLOVEBOX_KEY && isOfUrl ? stored.session : undefined;
  const managementKey =
    env.GLOVEBOX_KEY || session?.key || (isOfUrl ? stored.managementKey : undefined);
  const privateKey = env.GLOVEBOX_PRIVATE_KEY || (isOfUrl ? stored.privateKey : undefined);
  const missing = (which: string, variable: string): never => {
    const other = stored && !isOfUrl ? ` Profile "${profileName}" is for ${stored.url}.` : '';
    throw new Failure(
      'refused',
      `There is no ${which} for ${url}.${other}`,
      `Run \`glovebox login --url ${url}\` and paste one, or set ${variable}.`,
    );
  };
  // A stored key for such a URL has been allowed by `login --allow-http`.
  const isHeldBack = (variable: string): boolean =>
    Boolean(env[variable]) && isInTheClear(url) && env.GLOVEBOX_ALLOW_HTTP !== 'true';
  const sent = (key: string | undefined, which: string, variable: string): string => {
    if (isHeldBack(variable)) {
      throw usage(
        `${url} is not encrypted: ${variable} is not sent there.`,
        'Use https, or set GLOVEBOX_ALLOW_HTTP=true.',
      );
    }
    return key ?? missing(which, variable);
  };
  return {
    url,
    profileName,
    from: env.GLOVEBOX_KEY ? 'GLOVEBOX_KEY' : fromProfile,
    hasPrivateKey: privateKey !== undefined,
    managementUrl: session?.url ?? url,
    isOfPerson: session !== undefined,
    holdsKeyBack: isHeldBack('GLOVEBOX_KEY') || isHeldBack('GLOVEBOX_PRIVATE_KEY'),
    managementKey: () => sent(managementKey, 'key of a management application', 'GLOVEBOX_KEY'),
    privateKey: () => sent(privateKey, 'key of a private application', 'GLOVEBOX_PRIVATE_KEY'),
  };
}

export function nameOf(asked: Asked, env: Environment): string {
  const name = asked.profile ?? env.GLOVEBOX_PROFILE ?? defaultProfile;
  if (/^[\w-]{1,40}$/.test(name) && name !== '__proto__') return name;
  throw usage(`"${name}" is no name of a profile.`, 'Use up to 40 letters, digits, _ and -.');
}

/** The base URL without a slash at its end. */
export function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isHttp || url.username || url.password || url.search || url.hash) {
    throw usage(
      `"${text}" is no URL of Glovebox.`,
      'It is like https://glovebox.example: without a user, a query and a fragment.',
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Whether a host of a URL is this machine. */
export const isThisMachine = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(host);

/** Whether a key would travel in the clear through a network. */
export const isInTheClear = (url: string): boolean =>
  url.startsWith('http:') && !isThisMachine(new URL(url).hostname);

export function profilesFile(env: Environment): string {
  return join(configFolder(env), 'profiles.json');
}

function configFolder(env: Environment): string {
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'glovebox');
  if (env.APPDATA) return join(env.APPDATA, 'glovebox');
  return join(env.HOME || homedir(), '.config', 'glovebox');
}

export function readProfiles(env: Environment): Profiles {
  const file = profilesFile(env);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Profiles;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw usage(
      `${file} cannot be read: ${(error as Error).message}`,
      'Mend or delete it, and log in again.',
    );
  }
}

/** Only the user can read the file, also while it is written. */
export function writeProfiles(env: Environment, profiles: Profiles): void {
  const file = profilesFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  chmodSync(fresh, 0o600);
  renameSync(fresh, file);
}
