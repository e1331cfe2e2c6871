import { Resolver } from 'node:dns/promises';
import { limitTime } from '../abort';
import { EgressUnreachable, unreachable } from '../refusal';
import { SystemNames, withoutDot } from './system-names';

const lookUpTimeoutMs = 2_000;

/** The servers to ask: only these, or those that the system would ask. */
type NameSource = readonly string[] | SystemNames;

/** Looks up the names of our own services: as the system would, whatever EGRESS_DNS says. */
export function ownNamesBy(
  source: NameSource = new SystemNames(),
): (name: string) => Promise<readonly string[]> {
  return (name) => resolveName(name, source);
}

/** Asks once for all A and AAAA answers for a name. */
export async function resolveName(
  name: string,
  source: NameSource,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const limit = limitTime(lookUpTimeoutMs, () => new EgressUnreachable('ETIMEOUT', 'name'), signal);
  try {
    limit.signal.throwIfAborted();
    const addresses =
      'addressesOf' in source
        ? await askAsSystem(name, source, limit.signal)
        : await askServers([withoutDot(name)], source, limit.signal);
    return [...new Set(addresses)];
  } finally {
    limit.end();
  }
}

async function askAsSystem(
  name: string,
  system: SystemNames,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const listed = system.addressesOf(name);
  return listed.length > 0 ? listed : askServers(system.spellingsOf(name), system.servers, signal);
}

/** The answers for the first of these names that has any. Without servers, c-ares uses its own. */
async function askServers(
  names: readonly string[],
  servers: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  // One resolver per look-up: cancel() ends all the queries that a resolver has.
  const resolver = new Resolver({ timeout: 800, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    let failure = new EgressUnreachable('ENOTFOUND', 'name');
    for (const name of names) {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      // One family is enough, as the other may fail: only addresses in the answer are ever dialled.
      const addresses = answers.flatMap((answer) =>
        answer.status === 'fulfilled' ? answer.value : [],
      );
      if (addresses.length > 0) return addresses;
      signal.throwIfAborted();
      failure = answers.map((answer) => codeOf(answer)).reduce(worseOf, failure);
    }
    throw failure;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const absent = ['ENOTFOUND', 'ENODATA'];

function codeOf(answer: PromiseSettledResult<unknown>): EgressUnreachable {
  const { code } = unreachable(answer.status === 'rejected' ? answer.reason : undefined, 'name');
  return new EgressUnreachable(absent.includes(code) ? 'ENOTFOUND' : code, 'name');
}

const worseOf = (one: EgressUnreachable, other: EgressUnreachable): EgressUnreachable =>
  one.code === 'ENOTFOUND' ? other : one;
