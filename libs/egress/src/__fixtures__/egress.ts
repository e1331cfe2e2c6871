import { Shares } from '@glovebox/shares';
import type { DialTarget } from '../dial';
import { createEgress, type EgressParts } from '../egress';
import { parseEgressPolicy, type EgressSettings } from '../policy';

/**
 * Makes an egress that allows only the given addresses. Without an owner, all calls are one
 * tenant's.
 */
export function egressOf(settings: Partial<EgressSettings>, parts: Partial<EgressParts> = {}) {
  const policy = parseEgressPolicy({
    allow: [],
    allowHttp: false,
    ownServices: [],
    dnsServers: [],
    ...settings,
  });
  const egress = createEgress(policy, { lookups: new Shares({ places: 8 }), ...parts });
  return {
    ...egress,
    dial: (target: Omit<DialTarget, 'owner'> & { owner?: string }) =>
      egress.dial({ owner: 'tenant', ...target }),
  };
}
