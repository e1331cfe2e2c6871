import type { RouteName } from '../observing/call';

export type Route =
  | { readonly name: 'proxy' }
  | { readonly name: Exclude<RouteName, 'proxy' | 'react'> }
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
  return { name: 'management' };
}

export function isProxyPath(url: string): boolean {
  return url.startsWith('/proxy') && /^(?:[/?]|$)/.test(url.slice(6));
}
