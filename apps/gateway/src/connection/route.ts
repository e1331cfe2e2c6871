import { dryRunsPath } from '@glovebox/dry-runs';
import type { RouteName } from '../observing/call';

export type Route =
  | { readonly name: 'proxy' }
  | { readonly name: Exclude<RouteName, 'proxy' | 'forward' | 'react'> }
  | { readonly name: 'react'; readonly reactorId: string };

const proxyRoute: Route = { name: 'proxy' };
const reactPath = /^\/reactors\/([^/?]+)\/react\/?(?:\?|$)/;
const healthPath = /^\/health\/(live|ready)\/?(?:\?|$)/;

export function routeOf(url: string): Route {
  if (isProxyPath(url)) return proxyRoute;
  const [, reactorId] = reactPath.exec(url) ?? [];
  if (reactorId !== undefined) return { name: 'react', reactorId };
  const [, health] = healthPath.exec(url) ?? [];
  if (health === 'live' || health === 'ready') return { name: health };
  return { name: url === dryRunsPath ? 'dry_run' : 'management' };
}

/** The methods that the gateway passes on. */
export const forwardedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const read = ['GET', 'HEAD'];

/** The methods of each route. The management API has its own for each of its paths. */
export const methodsOf: Readonly<Record<RouteName, readonly string[]>> = {
  proxy: forwardedMethods,
  forward: forwardedMethods,
  management: forwardedMethods,
  // Without a ticket it is a path of the management API, which has none such.
  dry_run: forwardedMethods,
  react: ['POST'],
  live: read,
  ready: read,
};

export function isProxyPath(url: string): boolean {
  return url.startsWith('/proxy') && /^(?:[/?]|$)/.test(url.slice(6));
}
