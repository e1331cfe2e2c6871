import type { IncomingMessage } from 'node:http';
import {
  invalidApiKey,
  isApiKey,
  isProxyKey,
  missingProxyKey,
  requirePermission,
  type Principal,
} from '@glovebox/access';
import type { Decision, DefinitionSnapshot, ProxyDefinition } from '@glovebox/definitions';
import type { KeyUses } from '@glovebox/database';
import type { Egress } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import type { KeyHash } from '@glovebox/seal';
import type { ServiceHeaders } from '@glovebox/wire';
import type { Call } from '../observing/call';
import type { Pages } from './pages';
import type { CallRates } from './rates/call-rates';

/**
 * The proxy that a call of /proxy goes through: a stored one, or one that lasts as long as the
 * call.
 */
export interface InvokedProxy extends Omit<ProxyDefinition, 'kind' | 'id' | 'keyHash'> {
  /** Null for a proxy that is not stored. */
  readonly id: string | null;
}

export interface ProxyCall {
  readonly proxy: InvokedProxy;
  /** Null for an anonymous caller, on a proxy that admits them. */
  readonly caller: Principal | null;
  /** As which the steps of the proxy put values in. Absent where they put none. */
  readonly appender?: Principal | undefined;
}

export type ProxyDecision = Decision<ProxyCall>;

/** What a caller is told where the application of a proxy is refused. Without a key: the code alone. */
export const toldTo = (caller: Principal | null, refused: unknown): unknown =>
  caller === null && refused instanceof Problem
    ? new Problem(refused.code, { cause: refused })
    : refused;

/** Keys whose hashes are remembered. */
export const knownKeysMax = 10_000;

/**
 * The hash of each key that calls have come with (docs/adr/0031). Only keys that were found are
 * remembered, so that guesses cannot push out the keys of others.
 */
export class KnownKeys {
  readonly #hashes = new Map<string, string>();

  hashOf(key: string): string | undefined {
    return this.#hashes.get(key);
  }

  remember(key: string, hash: string): void {
    if (this.#hashes.size >= knownKeysMax) this.#hashes.clear();
    this.#hashes.set(key, hash);
  }

  forget(key: string): void {
    this.#hashes.delete(key);
  }
}

/** The parts of the context that keys are looked up with. */
interface KeyLookup {
  readonly headers: ServiceHeaders;
  readonly knownKeys: KnownKeys;
  readonly keyHash: KeyHash;
  readonly keyUses: KeyUses;
  readonly rates: CallRates;
}

interface ProxyLookup extends KeyLookup {
  readonly pages: Pages;
  readonly egress: Egress;
}

/** Finds the application of the API key, and counts the call. */
export function authenticate(
  ctx: KeyLookup,
  req: IncomingMessage,
  definitions: DefinitionSnapshot,
  call: Call,
): Principal {
  return authenticateKey(ctx, ctx.headers.read(req, 'api-key'), req, definitions, call);
}

/** Does the same for a key that came in another place. */
export function authenticateKey(
  ctx: KeyLookup,
  key: string | undefined,
  req: IncomingMessage,
  definitions: DefinitionSnapshot,
  call: Call,
): Principal {
  const found =
    key === undefined
      ? undefined
      : findByKey(ctx, key, isApiKey, (hash) => definitions.principalByKeyHash(hash));
  if (!found) throw invalidApiKey(key, req.rawHeaders);
  call.tenantId = found.owner.tenantId;
  call.applicationId = found.owner.actorId;
  ctx.rates.countKey(call, found.hash);
  ctx.keyUses.note(found.hash);
  return found.owner;
}

/** Hot path: does not hash a key again that was found before. */
function findByKey<Owner>(
  { knownKeys, keyHash }: KeyLookup,
  key: string,
  hasForm: (key: string) => boolean,
  find: (hash: string) => Owner | undefined,
): { readonly hash: string; readonly owner: Owner } | undefined {
  const known = knownKeys.hashOf(key);
  const hash = known ?? (hasForm(key) ? keyHash(key) : undefined);
  if (hash === undefined) return undefined;
  const owner = find(hash);
  if (owner === undefined) {
    knownKeys.forget(key);
    return undefined;
  }
  if (known === undefined) knownKeys.remember(key, hash);
  return { hash, owner };
}

/** Finds the proxy, by its key or by the URL in its place, and its caller. */
export function findProxy(
  ctx: ProxyLookup,
  req: IncomingMessage,
  definitions: DefinitionSnapshot,
  key: string | undefined,
  call: Call,
): ProxyCall {
  // Decided again: the key may have been revoked since.
  call.isKeyed = false;
  const url = ctx.headers.read(req, 'proxy-url');
  if (url === undefined) return storedProxy(ctx, req, definitions, key, call);
  if (key !== undefined) refuse('Send either a proxy key or `SVC-PROXY-URL`, not both.');
  return ephemeralProxy(ctx, req, definitions, url, call);
}

export function proxyOfKey(
  ctx: KeyLookup,
  definitions: DefinitionSnapshot,
  key: string | undefined,
): ProxyDefinition | undefined {
  if (key === undefined) return undefined;
  return findByKey(ctx, key, isProxyKey, (hash) => definitions.proxyByKeyHash(hash))?.owner;
}

function storedProxy(
  ctx: ProxyLookup,
  req: IncomingMessage,
  definitions: DefinitionSnapshot,
  key: string | undefined,
  call: Call,
): ProxyCall {
  const proxy = proxyOfKey(ctx, definitions, key);
  ctx.pages.admitToProxy(req, definitions, proxy, call);
  if (key === undefined) throw missingProxyKey(req.rawHeaders);
  if (!proxy) throw unknownProxy(key);
  if (!proxy.requireAuth && ctx.headers.read(req, 'api-key') === undefined) {
    call.tenantId = proxy.tenantId;
    call.proxyId = proxy.id;
    ctx.rates.countClient(call, proxy.id, req);
    return { proxy, caller: null };
  }
  const caller = authenticate(ctx, req, definitions, call);
  if (caller.tenantId !== proxy.tenantId) throw unknownProxy(key);
  call.isKeyed = true;
  requirePermission(caller, 'token:use');
  return { proxy, caller };
}

/**
 * The caller chooses the destination. It must therefore be known, and its tenant must allow this.
 */
function ephemeralProxy(
  ctx: ProxyLookup,
  req: IncomingMessage,
  definitions: DefinitionSnapshot,
  url: string,
  call: Call,
): ProxyCall {
  const caller = authenticate(ctx, req, definitions, call);
  call.isKeyed = true;
  requirePermission(caller, 'token:use');
  const { tenantId } = caller;
  const tenant = definitions.find('tenant', tenantId, tenantId);
  if (tenant?.settings.enable_ephemeral_proxy !== 'true') {
    throw new Problem('permission_denied', {
      detail:
        '`SVC-PROXY-URL` is disabled for this tenant; set `enable_ephemeral_proxy` to `true`.',
    });
  }
  const fault = ctx.egress.faultOfUrl(url, { isAscii: true });
  if (fault !== undefined) refuse(`SVC-PROXY-URL ${fault}.`);
  return { proxy: unstoredProxy(tenantId, url), caller };
}

/** A proxy that lasts as long as the call, and has nothing but a destination. */
export function unstoredProxy(tenantId: string, destinationUrl: string): InvokedProxy {
  return {
    id: null,
    tenantId,
    destinationUrl,
    requireAuth: true,
    detokenize: true,
    requestTransform: null,
    responseTransform: null,
    requestSteps: [],
    responseSteps: [],
    applicationId: null,
    configuration: {},
    tls: null,
    allowedOrigins: [],
    match: null,
    forwardTo: null,
    isolation: 'warm',
    timeoutMs: null,
  };
}

function refuse(detail: string): never {
  throw new Problem('invalid_request', { detail });
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Unknown, deleted and foreign proxies get the same answer. An id is told by its form alone, so
 * that nobody learns which ids there are.
 */
function unknownProxy(key: string): Problem {
  const detail = uuid.test(key)
    ? 'This is an id. Calls take `key` of the proxy.'
    : 'There is no proxy with this key.';
  return new Problem('not_found', { detail });
}
