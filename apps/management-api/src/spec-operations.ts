import { createHash } from 'node:crypto';
import type { Permission } from '@glovebox/access';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** One operation of the API, for the specs that go through all of them. */
export interface Operation {
  readonly method: Method;
  /** In Express's notation. */
  readonly path: string;
  /** Null admits every valid API key. */
  readonly permission: Permission | null;
  /** Makes a valid body, if the operation takes one. */
  readonly body?: (ids: Ids) => object;
}

/** Resources of the tenant that the specs run as. */
export interface Ids {
  readonly application: string;
  readonly key: string;
  readonly formula: string;
  readonly reactor: string;
  readonly proxy: string;
  readonly token: string;
  /** A run of the reactor, and its webhook. */
  readonly run: string;
  readonly deployment: string;
}

const application = () => ({ name: 'name', type: 'public', permissions: ['token:create'] });
const formula = () => ({ name: 'name', code: 'module.exports = () => ({})' });
const proxy = () => ({ name: 'name', destination_url: 'https://example.com/' });

/** A text of code that may be uploaded. */
export const uploaded = {
  code: formula().code,
  sha256: createHash('sha256').update(formula().code).digest('hex'),
};

export const operations: readonly Operation[] = [
  { method: 'post', path: '/applications', permission: 'application:create', body: application },
  { method: 'get', path: '/applications', permission: 'application:read' },
  { method: 'get', path: '/applications/key', permission: null },
  { method: 'get', path: '/applications/:id', permission: 'application:read' },
  {
    method: 'put',
    path: '/applications/:id',
    permission: 'application:update',
    body: application,
  },
  {
    method: 'patch',
    path: '/applications/:id',
    permission: 'application:update',
    body: () => ({ name: 'name' }),
  },
  {
    method: 'post',
    path: '/applications/:id/decisions',
    permission: 'application:read',
    body: (ids) => ({ token_id: ids.token, permission: 'token:read' }),
  },
  { method: 'post', path: '/applications/:id/regenerate', permission: 'application:update' },
  { method: 'post', path: '/applications/:id/keys', permission: 'application:update' },
  { method: 'get', path: '/applications/:id/keys', permission: 'application:read' },
  { method: 'get', path: '/applications/:id/keys/:key_id', permission: 'application:read' },
  { method: 'delete', path: '/applications/:id/keys/:key_id', permission: 'application:update' },
  { method: 'delete', path: '/applications/:id', permission: 'application:delete' },
  { method: 'get', path: '/permissions', permission: null },

  { method: 'get', path: '/tenants/self', permission: 'tenant:read' },
  {
    method: 'put',
    path: '/tenants/self',
    permission: 'tenant:update',
    body: () => ({ name: 'name', settings: {} }),
  },
  { method: 'get', path: '/tenants/self/forward-ca', permission: 'tenant:read' },
  { method: 'post', path: '/tenants/self/forward-ca/rotate', permission: 'tenant:update' },
  { method: 'get', path: '/tenants/self/webhook-secret', permission: 'tenant:update' },
  { method: 'post', path: '/tenants/self/webhook-secret/rotate', permission: 'tenant:update' },
  { method: 'get', path: '/logs', permission: 'log:read' },
  { method: 'get', path: '/sessions', permission: 'application:read' },
  { method: 'delete', path: '/sessions/:id', permission: 'application:update' },
  { method: 'delete', path: '/people/:id/sessions', permission: 'application:update' },
  { method: 'get', path: '/overview', permission: 'log:read' },
  { method: 'get', path: '/calls', permission: 'log:read' },
  { method: 'get', path: '/calls/summary', permission: 'log:read' },
  { method: 'get', path: '/calls/:id', permission: 'log:read' },
  { method: 'get', path: '/runs', permission: 'log:read' },
  { method: 'get', path: '/runs/:id', permission: 'log:read' },
  { method: 'post', path: '/runs/:id/rerun', permission: 'token:use' },
  { method: 'get', path: '/reactors/:id/runs', permission: 'log:read' },
  { method: 'get', path: '/reactors/:id/runs/:run_id', permission: 'log:read' },
  { method: 'get', path: '/reactors/:id/results/:request_id', permission: 'token:use' },
  { method: 'get', path: '/proxies/:id/runs', permission: 'log:read' },
  { method: 'get', path: '/proxies/:id/runs/:run_id', permission: 'log:read' },
  { method: 'get', path: '/webhook-deliveries', permission: 'log:read' },
  { method: 'get', path: '/webhook-deliveries/:id', permission: 'log:read' },
  {
    method: 'post',
    path: '/webhook-deliveries/replay',
    permission: 'tenant:update',
    body: () => ({ filter: { status: 'failed' } }),
  },
  { method: 'post', path: '/webhook-deliveries/:id/replay', permission: 'tenant:update' },

  {
    method: 'post',
    path: '/deployments',
    permission: 'deployment:create',
    body: () => ({ items: [], message: 'text' }),
  },
  {
    method: 'put',
    path: '/code/:sha256',
    permission: 'deployment:create',
    body: () => ({ code: uploaded.code }),
  },
  {
    method: 'put',
    path: '/code/:sha256/map',
    permission: 'deployment:create',
    body: () => ({ map: '{"version":3,"sources":[],"mappings":""}' }),
  },
  { method: 'get', path: '/code/:sha256', permission: 'reactor:read' },
  { method: 'get', path: '/deployments', permission: 'deployment:read' },
  { method: 'get', path: '/deployments/:id', permission: 'deployment:read' },
  { method: 'post', path: '/deployments/:id/rollback', permission: 'deployment:create' },

  { method: 'post', path: '/reactor-formulas', permission: 'reactor:create', body: formula },
  { method: 'get', path: '/reactor-formulas', permission: 'reactor:read' },
  { method: 'get', path: '/reactor-formulas/:id', permission: 'reactor:read' },
  { method: 'put', path: '/reactor-formulas/:id', permission: 'reactor:update', body: formula },
  {
    method: 'patch',
    path: '/reactor-formulas/:id',
    permission: 'reactor:update',
    body: () => ({ name: 'name' }),
  },
  { method: 'delete', path: '/reactor-formulas/:id', permission: 'reactor:delete' },

  {
    method: 'post',
    path: '/reactors',
    permission: 'reactor:create',
    body: (ids) => ({ name: 'name', configuration: {}, formula: { id: ids.formula } }),
  },
  { method: 'get', path: '/reactors', permission: 'reactor:read' },
  { method: 'get', path: '/reactors/:id', permission: 'reactor:read' },
  {
    method: 'put',
    path: '/reactors/:id',
    permission: 'reactor:update',
    body: () => ({ name: 'name', configuration: {} }),
  },
  {
    method: 'patch',
    path: '/reactors/:id',
    permission: 'reactor:update',
    body: () => ({ name: 'name' }),
  },
  { method: 'delete', path: '/reactors/:id', permission: 'reactor:delete' },

  {
    method: 'post',
    path: '/reactors/dry-runs',
    permission: 'reactor:update',
    body: (ids) => ({ reactor_id: ids.reactor }),
  },
  {
    method: 'post',
    path: '/proxies/dry-runs',
    permission: 'proxy:update',
    body: (ids) => ({ proxy_id: ids.proxy, request: {} }),
  },

  { method: 'post', path: '/webhook-listeners', permission: 'log:read' },
  { method: 'get', path: '/webhook-listeners/:id/webhooks', permission: 'log:read' },
  { method: 'delete', path: '/webhook-listeners/:id', permission: 'log:read' },

  { method: 'post', path: '/proxies', permission: 'proxy:create', body: proxy },
  { method: 'get', path: '/proxies', permission: 'proxy:read' },
  { method: 'get', path: '/proxies/:id', permission: 'proxy:read' },
  { method: 'put', path: '/proxies/:id', permission: 'proxy:update', body: proxy },
  {
    method: 'patch',
    path: '/proxies/:id',
    permission: 'proxy:update',
    body: () => ({ name: 'name' }),
  },
  { method: 'post', path: '/proxies/:id/captures', permission: 'proxy:update' },
  { method: 'get', path: '/proxies/:id/captures', permission: 'proxy:update' },
  { method: 'get', path: '/proxies/:id/captures/:capture_id', permission: 'proxy:update' },
  { method: 'delete', path: '/proxies/:id/captures', permission: 'proxy:update' },
  { method: 'delete', path: '/proxies/:id', permission: 'proxy:delete' },

  {
    method: 'post',
    path: '/tokens',
    permission: 'token:create',
    body: () => ({ type: 'token', data: 'value', metadata: { name: 'name' } }),
  },
  { method: 'get', path: '/tokens', permission: 'token:read' },
  { method: 'get', path: '/tokens/:id', permission: 'token:read' },
  {
    method: 'patch',
    path: '/tokens/:id',
    permission: 'token:update',
    body: () => ({ metadata: { name: 'name' } }),
  },
  { method: 'delete', path: '/tokens/:id', permission: 'token:delete' },
  {
    method: 'post',
    path: '/tokens/search',
    permission: 'token:search',
    body: () => ({ query: 'type:token' }),
  },
  // Any JSON is a valid document. tokenize.spec.ts tests the refusals.
  { method: 'post', path: '/tokenize', permission: 'token:create' },
  { method: 'post', path: '/detokenize', permission: 'token:read' },
  // Last, because it leaves nothing of the tenant.
  { method: 'delete', path: '/tenants/self', permission: 'tenant:delete' },
];

export const nameOf = ({ method, path }: Operation): string => `${method.toUpperCase()} ${path}`;

/** The path with real ids, or with `other` as the id of the resource. */
export function urlOf({ path }: Operation, ids: Ids, other?: string): string {
  const [, family = ''] = path.split('/');
  const resource: Readonly<Record<string, string>> = {
    applications: ids.application,
    'reactor-formulas': ids.formula,
    reactors: ids.reactor,
    proxies: ids.proxy,
    tokens: ids.token,
    calls: ids.run,
    runs: ids.run,
    'webhook-deliveries': ids.run,
    // Nobody listens.
    'webhook-listeners': ids.run,
    // Nobody is signed in.
    sessions: ids.run,
    people: ids.run,
    deployments: ids.deployment,
  };
  return path
    .replace(':id', other ?? resource[family] ?? '')
    .replace(':sha256', uploaded.sha256)
    .replace(':key_id', ids.key)
    .replace(/:run_id|:request_id|:capture_id/, ids.run);
}
