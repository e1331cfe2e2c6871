import { lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { limitTime, untilAborted } from './abort';
import { EgressUnreachable, unreachable } from './refusal';

const dnsTimeoutMs = 2_000;

/** All A and AAAA answers for a name, asked once. */
export async function resolveName(
  name: string,
  dnsServers: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const limit = limitTime(dnsTimeoutMs, new EgressUnreachable('ETIMEOUT'), signal);
  try {
    limit.signal.throwIfAborted();
    const addresses =
      dnsServers.length > 0
        ? await askServers(name, dnsServers, limit.signal)
        : await untilAborted(askSystem(name), limit.signal);
    signal?.throwIfAborted();
    return [...new Set(addresses)];
  } finally {
    limit.end();
  }
}

async function askServers(
  name: string,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  // One resolver per look-up: cancel() ends all the queries that a resolver has.
  const resolver = new Resolver({ timeout: 800, tries: 2 });
  resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    // One family is enough, the other may be lame: only what was answered is ever connected to.
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    );
    if (addresses.length > 0) return addresses;
    signal.throwIfAborted();
    throw answers.map((answer) => codeOf(answer)).reduce(worseOf);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const absent = ['ENOTFOUND', 'ENODATA'];

function codeOf(answer: PromiseSettledResult<unknown>): EgressUnreachable {
  const { code } = unreachable(answer.status === 'rejected' ? answer.reason : undefined);
  return new EgressUnreachable(absent.includes(code) ? 'ENOTFOUND' : code);
}

const worseOf = (one: EgressUnreachable, other: EgressUnreachable): EgressUnreachable =>
  one.code === 'ENOTFOUND' ? other : one;

const asked = new Map<string, Promise<readonly string[]>>();

/**
 * getaddrinfo, as it alone knows /etc/hosts and the search domains of a cluster. It cannot be
 * cancelled and occupies one of the two threads that libuv gives it, so that calls for one name
 * share a look-up; where customers choose slow names, EGRESS_DNS is the remedy.
 */
function askSystem(name: string): Promise<readonly string[]> {
  let answer = asked.get(name);
  if (!answer) {
    answer = getAddressInfo(name).finally(() => asked.delete(name));
    asked.set(name, answer);
  }
  return answer;
}

function getAddressInfo(name: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    lookup(name, { all: true, verbatim: true }, (error, addresses) => {
      if (error) reject(unreachable(error));
      else resolve(addresses.map(({ address }) => address));
    });
  });
}
