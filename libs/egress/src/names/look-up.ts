import { untilAborted } from '../abort';
import { familyOf } from '../address-table';
import type { Rules } from '../dial';
import { mayReach } from '../policy';
import { EgressUnreachable } from '../refusal';
import { canonicalHost } from '../url';

export interface LookUpTarget {
  /** The tenant that asks. */
  readonly owner: string;
  readonly host: string;
  readonly signal: AbortSignal;
}

/**
 * Looks up the addresses of a name that may be reached at some port. A name whose addresses are all
 * forbidden gets the answer of a name that does not exist. A connection to an address is judged
 * again.
 */
export async function lookUp(
  { policy, own, lookUps }: Rules,
  { owner, host, signal }: LookUpTarget,
): Promise<readonly string[]> {
  const name = canonicalHost(host);
  if (name === undefined) throw new EgressUnreachable('ENOTFOUND', 'name');
  const [addresses] = await Promise.all([
    familyOf(name) === undefined ? lookUps.addressesOf(name, owner, signal) : [name],
    untilAborted(own.refresh(), signal),
  ]);
  const open = addresses.filter((address) => mayReach(policy, own, address));
  if (open.length === 0) throw new EgressUnreachable('ENOTFOUND', 'name');
  return open;
}
