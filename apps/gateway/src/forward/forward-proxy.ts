import type { DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import { unstoredProxy, type InvokedProxy } from '../call/caller';
import type { GatewayContext } from '../context';
import type { ForwardTarget } from './forward-target';

/** What becomes of requests that no proxy matches. */
type Unmatched = 'deny' | 'expressions' | 'tunnel';

export function unmatchedOf(definitions: DefinitionSnapshot, tenantId: string): Unmatched {
  const tenant = definitions.find('tenant', tenantId, tenantId);
  const setting = tenant?.settings.forward_unmatched;
  return setting === 'expressions' || setting === 'tunnel' ? setting : 'deny';
}

interface AskedPath {
  readonly method: string;
  readonly path: string;
}

/** The proxy that handles a request: a stored one that matches it, or one for this call. */
export function forwardProxy(
  ctx: Pick<GatewayContext, 'egress'>,
  definitions: DefinitionSnapshot,
  tenantId: string,
  target: ForwardTarget,
  { method, path }: AskedPath,
): InvokedProxy {
  const { hostPatterns, origin } = target;
  const matched = definitions.proxyFor(tenantId, { hostPatterns, method, path });
  if (matched?.forwardTo === null) return matched;
  if (matched) {
    refuseOrigin(ctx, target);
    return { ...matched, destinationUrl: origin };
  }
  const unmatched = unmatchedOf(definitions, tenantId);
  if (unmatched === 'deny') throw denied(target);
  refuseOrigin(ctx, target);
  return { ...unstoredProxy(tenantId, origin), detokenize: unmatched === 'expressions' };
}

/**
 * Refuses a path that its values have made another proxy's: the rules of that one would not have been
 * applied.
 */
export function refuseOtherPath(
  definitions: DefinitionSnapshot,
  { tenantId, id }: InvokedProxy,
  { hostPatterns }: ForwardTarget,
  { method, path }: AskedPath,
): void {
  const matched = definitions.proxyFor(tenantId, { hostPatterns, method, path });
  if ((matched?.id ?? null) === id) return;
  throw new Problem('invalid_request', {
    detail: 'With its expressions replaced, the path is not that of the proxy that handles it.',
  });
}

/** Refuses what the address alone forbids. The addresses of a name are judged when it is dialled. */
export function refuseOrigin(
  { egress }: Pick<GatewayContext, 'egress'>,
  { origin }: ForwardTarget,
): void {
  const fault = egress.faultOfUrl(origin, { isAscii: true });
  if (fault === undefined) return;
  throw new Problem('forward_denied', { detail: `The address of the request ${fault}.` });
}

export const denied = ({ hostPatterns: [host = ''] }: ForwardTarget): Problem =>
  new Problem('forward_denied', {
    detail:
      `No proxy of this tenant matches this request to ${host}. Allow it by a proxy with ` +
      `\`match: {"hosts": ["${host}"]}\`, or all hosts by the setting \`forward_unmatched\` of the ` +
      'tenant: `expressions` or `tunnel`.',
  });
