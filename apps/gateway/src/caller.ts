import type { IncomingMessage } from 'node:http';
import { isApiKey, isProxyKey, requirePermission, type Principal } from '@glovebox/access';
import type { DefinitionSnapshot, ProxyDefinition } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { GatewayContext } from './context';

/** Who sent the API key. One 401 for every kind of wrong key. */
export function authenticate(
  ctx: GatewayContext,
  req: IncomingMessage,
  definitions: DefinitionSnapshot,
): Principal {
  const key = ctx.headers.read(req, 'api-key');
  if (key === undefined || !isApiKey(key)) throw new Problem('invalid_api_key');
  const hash = ctx.keyHash(key);
  const principal = definitions.principalByKeyHash(hash);
  if (!principal) throw new Problem('invalid_api_key');
  ctx.keyUses.note(hash);
  return principal;
}

export function findProxy(
  ctx: GatewayContext,
  definitions: DefinitionSnapshot,
  key: string | undefined,
): ProxyDefinition {
  if (key === undefined) throw new Problem('proxy_key_missing');
  const proxy = isProxyKey(key) ? definitions.proxyByKeyHash(ctx.keyHash(key)) : undefined;
  if (!proxy) throw unknownProxy();
  return proxy;
}

/** Null: an anonymous caller, on a proxy that lets such in. */
export function identifyCaller(
  ctx: GatewayContext,
  req: IncomingMessage,
  definitions: DefinitionSnapshot,
  proxy: ProxyDefinition,
): Principal | null {
  if (!proxy.requireAuth && ctx.headers.read(req, 'api-key') === undefined) return null;
  const caller = authenticate(ctx, req, definitions);
  if (caller.tenantId !== proxy.tenantId) throw unknownProxy();
  requirePermission(caller, 'token:use');
  return caller;
}

/** Unknown, deleted and foreign answer alike. */
function unknownProxy(): Problem {
  return new Problem('not_found', { detail: 'There is no proxy with this key.' });
}
