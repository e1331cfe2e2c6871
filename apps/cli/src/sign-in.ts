import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { callConsole } from './call-console';
import { profilesFile, readProfiles, writeProfiles } from './connection';
import type { Context } from './context';
import { Failure } from './failure';
import { plain } from './terminal';

interface Begun {
  readonly device_code: string;
  readonly user_code: string;
  readonly expires_in: number;
  readonly interval: number;
}

interface Taken {
  readonly key: string;
  readonly expires_at: string;
  readonly role: string;
  readonly person: { readonly name: string };
  readonly tenant: { readonly name: string };
}

interface Where {
  readonly name: string;
  readonly url: string;
  readonly console: string;
}

/** Somebody confirms this machine in the console. It gets a session of theirs, and no key of an application. */
export async function signIn(context: Context, { name, url, console }: Where): Promise<void> {
  const { env, terminal, signal } = context;
  const api = `${console}/api`;
  const begun = await callConsole<Begun>(api, '/console/machines', {
    ...{ method: 'POST', body: { machine: machineName() }, signal },
  });
  const page = `${console}/command-line`;
  terminal.say(`Open ${page} and type ${terminal.paintSaid('bold', begun.user_code)}`);
  const waiting = untilDecided(api, begun, signal);
  const taken = await terminal.progress('waiting for the console', waiting);
  const session = { url: api, key: taken.key, expiresAt: taken.expires_at };
  const profiles = readProfiles(env);
  const stored = profiles[name]?.url === url ? profiles[name] : { url };
  const { managementKey: _, ...kept } = stored;
  writeProfiles(env, { ...profiles, [name]: { ...kept, session } });
  const { person, role, tenant, expires_at: until } = taken;
  const file = profilesFile(env);
  terminal.result(
    { profile: name, url, person: person.name, role, tenant: tenant.name, expires_at: until, file },
    `${terminal.paint('green', '✓')} ${plain(person.name)} (${role}) at ${url}, until ${until}, in ${file}`,
  );
}

/** Plain letters, since the page shows no others. */
const machineName = (): string => {
  const letters = hostname()
    .replace(/[^!-~]/g, '')
    .slice(0, 100);
  return letters === '' ? 'unnamed' : letters;
};

async function untilDecided(api: string, begun: Begun, signal: AbortSignal): Promise<Taken> {
  const { device_code, expires_in: seconds, interval } = begun;
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const asked = { method: 'POST', body: { device_code }, signal } as const;
    const answer = await callConsole<Taken | { pending: true }>(
      api,
      '/console/machines/session',
      asked,
    );
    if (!('pending' in answer)) return answer;
    await sleep(interval * 1_000, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
  throw new Failure('refused', 'Nobody confirmed it within ten minutes.', 'Begin again.');
}
