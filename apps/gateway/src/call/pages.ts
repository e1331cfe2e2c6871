import type { IncomingMessage, ServerResponse } from 'node:http';
import { isApiKey } from '@glovebox/access';
import type { DefinitionFollower, DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { KeyHash } from '@glovebox/seal';
import { serviceHeaderNames, traceHeader, type ServiceHeaders } from '@glovebox/wire';
import { endConnection } from '../connection/caller-connection';
import { destinationStatusHeader, withoutNames } from '../connection/forwarded-headers';
import { hasBody } from '../connection/intake';
import { forwardedMethods } from '../connection/route';
import type { Call, OriginHeaders } from '../observing/call';

/** Browsers remember the answer to a preflight. The call itself is checked all the same. */
const preflightAgeSeconds = 600;

/** The answer differs by origin even where no page may read it: caches must know. */
const unreadable: OriginHeaders = { Vary: 'Origin' };

/** What pages may send to some paths, and read of the answers. */
interface Openness {
  readonly allowHeaders: string;
  readonly exposeHeaders: string;
}

/** The application or proxy of a call. */
interface Called {
  readonly allowedOrigins: readonly string[];
}

interface PagesContext {
  readonly headers: ServiceHeaders;
  readonly follower: Pick<DefinitionFollower, 'fresh' | 'current' | 'lastKnown'>;
  readonly keyHash: KeyHash;
}

/**
 * Says which pages in browsers may call, and which answers they may read (docs/adr/0073). An origin
 * grants nothing: a caller that is no browser may name any.
 */
export class Pages {
  readonly #tokens: Openness;
  readonly #proxies: Openness;

  constructor(private readonly ctx: PagesContext) {
    const { headers } = ctx;
    const allowed = (names: readonly string[]): string =>
      ['CONTENT-TYPE', ...names.flatMap((name) => headers.answerSpellingsOf(name))].join(', ');
    const exposed = [traceHeader, 'Retry-After', ...headers.answerSpellingsOf('unknown-members')];
    const ofTokens = serviceHeaderNames.filter((name) => !name.startsWith('proxy-'));
    this.#tokens = {
      // Nothing reads the last. A published client sends it from every page.
      allowHeaders: allowed([...ofTokens, 'client-user-agent']),
      exposeHeaders: exposed.join(', '),
    };
    this.#proxies = {
      allowHeaders: allowed(['api-key', 'proxy-key', 'trace-id']),
      exposeHeaders: [...exposed, destinationStatusHeader].join(', '),
    };
  }

  /**
   * Checks a call to the management API before anything is done for it. True: it was a preflight,
   * and has its answer.
   */
  async admitToManagement(req: IncomingMessage, res: ServerResponse, call: Call): Promise<boolean> {
    const method = methodOfPages(req.url ?? '');
    if (method === undefined || !(req.method === method || isPreflight(req))) return false;
    call.originHeaders = unreadable;
    const { origin } = req.headers;
    if (origin === undefined) return false;
    const { follower } = this.ctx;
    // A page may read that nobody knows what is in force.
    if (follower.lastKnown.isOriginOfApplication(origin)) open(call, origin, this.#tokens);
    const definitions = follower.fresh() ?? (await follower.current());
    const isListed = definitions.isOriginOfApplication(origin);
    if (!isPreflight(req)) {
      const application = this.#applicationOf(req, definitions);
      admit(call, origin, application, isListed, this.#tokens);
      return false;
    }
    call.originHeaders = unreadable;
    if (req.headers[askedMethod] !== method) throw refused(`Pages may send only ${method} here.`);
    if (!isListed) throw refused('No public application lists the origin of this page.');
    answerPreflight(req, res, call, origin, method, this.#tokens);
    return true;
  }

  #applicationOf(req: IncomingMessage, definitions: DefinitionSnapshot): Called | undefined {
    const key = this.ctx.headers.read(req, 'api-key');
    if (key === undefined || !isApiKey(key)) return undefined;
    const caller = definitions.principalByKeyHash(this.ctx.keyHash(key));
    return caller && definitions.find('application', caller.tenantId, caller.actorId);
  }

  /**
   * Checks a call of this proxy, or of none, before anything is done for it. A proxy without
   * origins leaves everything to its destination.
   */
  admitToProxy(
    req: IncomingMessage,
    definitions: DefinitionSnapshot,
    proxy: Called | undefined,
    call: Call,
  ): void {
    if (proxy?.allowedOrigins.length === 0) return;
    call.originHeaders = unreadable;
    const { origin } = req.headers;
    if (origin === undefined) return;
    admit(call, origin, proxy, definitions.isOriginOfProxy(origin), this.#proxies);
  }

  /** True: the call was a preflight, and has its answer. */
  preflightOfProxy(
    req: IncomingMessage,
    res: ServerResponse,
    definitions: DefinitionSnapshot,
    proxy: Called | undefined,
    call: Call,
  ): boolean {
    const { origin } = req.headers;
    if (origin === undefined || !isPreflight(req)) return false;
    const isListed = definitions.isOriginOfProxy(origin);
    if (proxy ? proxy.allowedOrigins.length === 0 : !isListed) return false;
    call.originHeaders = unreadable;
    if (proxy && !proxy.allowedOrigins.includes(origin)) throw foreign();
    answerPreflight(req, res, call, origin, forwardedMethods.join(', '), this.#proxies);
    return true;
  }
}

const tokensPath = /^\/(?:tokens|tokenize)\/?(?:\?|$)/;
const tokenPath = /^\/tokens\/[^/?]+\/?(?:\?|$)/;

/** The method by which pages write tokens at this path. */
function methodOfPages(url: string): 'POST' | 'PATCH' | undefined {
  if (!url.startsWith('/token')) return undefined;
  if (tokensPath.test(url)) return 'POST';
  return tokenPath.test(url) ? 'PATCH' : undefined;
}

const askedMethod = 'access-control-request-method';

const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers[askedMethod] !== undefined;

/**
 * Opens the answer to the page, where the application or proxy lists its origin. Where none is
 * found, a page that any lists may read so.
 */
function admit(
  call: Call,
  origin: string,
  called: Called | undefined,
  isListedByAny: boolean,
  openness: Openness,
): void {
  call.originHeaders = unreadable;
  const isListed = called ? called.allowedOrigins.includes(origin) : isListedByAny;
  if (isListed) open(call, origin, openness);
  else if (called && called.allowedOrigins.length > 0) throw foreign();
}

function open(call: Call, origin: string, { exposeHeaders }: Openness): void {
  call.originHeaders = {
    ...unreadable,
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': exposeHeaders,
  };
}

function answerPreflight(
  req: IncomingMessage,
  res: ServerResponse,
  call: Call,
  origin: string,
  methods: string,
  { allowHeaders }: Openness,
): void {
  if (!req.complete && hasBody(req)) endConnection(res);
  res.writeHead(204, {
    ...unreadable,
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': allowHeaders,
    'Access-Control-Max-Age': String(preflightAgeSeconds),
    [traceHeader]: call.traceId,
  });
  res.end();
}

const refused = (detail: string): Problem => new Problem('permission_denied', { detail });

const foreign = (): Problem =>
  refused('`allowed_origins` does not list the origin of the page that sent this.');

/** Adds what pages may read to the headers of an answer, in place of what its server said of it. */
export function withOriginHeaders(lines: string[], { originHeaders }: Call): string[] {
  if (!originHeaders) return lines;
  const kept = withoutNames(lines, (lower) => lower.startsWith('access-control-'));
  return [...kept, ...Object.entries(originHeaders).flat()];
}
