import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Principal } from '@glovebox/access';
import { record } from '@glovebox/database';
import { Decision, type ForwardAuthority } from '@glovebox/definitions';
import { EgressUnreachable } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import { endConnection } from '../connection/caller-connection';
import { CallerLeft } from '../connection/caller-left';
import type { CallerRequest } from '../connection/caller-request';
import type { CallerResponse } from '../connection/caller-response';
import { refuseAmbiguous, refuseLoop } from '../connection/intake';
import { acceptConnect } from '../connection/upgrade';
import type { GatewayContext } from '../context';
import type { Call } from '../observing/call';
import { askForKey, forwardCaller, proxyAuthorizationOf } from './forward-caller';
import { denied, refuseOrigin, unmatchedOf } from './forward-proxy';
import { inPlain, readAuthority, type ForwardTarget } from './forward-target';
import { openTunnel } from './tunnel';

interface Connecting {
  readonly req: CallerRequest;
  readonly res: CallerResponse;
  readonly call: Call;
  readonly target: ForwardTarget;
  readonly key: string;
  readonly caller: Principal;
}

/**
 * Opens a tunnel to a host. Where a proxy may match, or expressions are filled in, the requests in
 * it are read: `server` gets them. Otherwise bytes pass unread, or nothing does.
 */
export async function handleConnect(
  ctx: GatewayContext,
  server: Server,
  req: CallerRequest,
  res: CallerResponse,
  call: Call,
): Promise<void> {
  const target = readAuthority(req.url ?? '', 'https');
  // The rest of the checks is about paths.
  req.url = '/';
  refuseAmbiguous(req, res, ['CONNECT']);
  refuseLoop(ctx, req);
  if (!req.upgrade) {
    endConnection(res);
    throw new Problem('invalid_request', {
      detail: 'CONNECT has no body, and nothing is under way before it.',
    });
  }
  if (!target) throw new Problem('invalid_request', { detail: 'CONNECT names no host and port.' });
  const key = proxyAuthorizationOf(req);
  const definitions = ctx.follower.fresh() ?? (await ctx.follower.current());
  const decision = new Decision(ctx.follower, definitions, {
    find: (now) => {
      const caller = askingForKey(() => forwardCaller(ctx, req, key, now, call));
      const isRead = [target, inPlain(target)].some(({ hostPatterns }) =>
        now.hasProxyFor(caller.tenantId, hostPatterns),
      );
      return { caller, unmatched: isRead ? null : unmatchedOf(now, caller.tenantId) };
    },
    parts: ['caller', 'unmatched'],
  });
  const { caller, unmatched } = decision.decided;
  const { tenantId } = caller;
  call.destinationHost = target.origin.replace(/^https:\/\//, '');
  const connecting = { req, res, call, target, key: key ?? '', caller };
  if (unmatched === 'deny') throw denied(target);
  if (unmatched !== null) refuseOrigin(ctx, target);
  if (unmatched === 'tunnel') return passThrough(ctx, connecting, decision);
  const { authorities } = definitions.find('authority', tenantId, tenantId) ?? {};
  if (!authorities) throw withoutAuthority();
  return readRequests(ctx, server, connecting, authorities);
}

function askingForKey<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (refused) {
    throw askForKey(refused);
  }
}

/** Speaks TLS in the place of the host, or plain HTTP, and serves the requests. */
async function readRequests(
  ctx: GatewayContext,
  server: Server,
  { res, target, key, caller: { tenantId } }: Connecting,
  authorities: readonly ForwardAuthority[],
): Promise<void> {
  const endTunnel = ctx.forwardTunnels.takeNow(tenantId);
  try {
    const wanted = { tenantId, authorities, host: target.host };
    const context = await ctx.leaves.contextFor(wanted, () => abortedWith(res));
    if (res.destroyed) throw new Problem('invalid_request', { detail: 'The caller left.' });
    const socket = endCallOf(res);
    const handshakeMs = ctx.config.HEADERS_TIMEOUT_MS;
    const opening = { target, key, context, handshakeMs, closed: endTunnel };
    void openTunnel(socket, opening).then((inner) => inner && server.emit('connection', inner));
  } catch (thrown) {
    endTunnel();
    throw thrown;
  }
}

function abortedWith(res: CallerResponse): AbortSignal {
  const left = new AbortController();
  res.once('close', () => left.abort());
  return left.signal;
}

/** The call is the CONNECT alone: the requests in the tunnel are calls of their own. */
function endCallOf(res: CallerResponse): Socket {
  const socket = acceptConnect(res);
  res.detachSocket(socket);
  res.emit('close');
  return socket;
}

type TunnelDecision = Pick<Decision<object>, 'isConfirmed' | 'confirm'>;

/** The call lasts as long as the tunnel. */
async function passThrough(
  ctx: GatewayContext,
  { res, call, target, caller }: Connecting,
  decision: TunnelDecision,
): Promise<void> {
  const { tenantId } = caller;
  const endTunnel = ctx.forwardTunnels.takeNow(tenantId);
  try {
    await recordTunnel(ctx, caller, call);
    const destination = await dial(ctx, res, target, tenantId);
    call.askedAt = call.answeredAt = performance.now();
    const socket = acceptConnect(res);
    const unread = { idleMs: ctx.config.FORWARD_IDLE_MS };
    ctx.tunnels.join(socket, destination, { decision, closed: endTunnel, unread });
  } catch (thrown) {
    endTunnel();
    throw thrown;
  }
}

/** Bytes that nobody reads go to no host that the audit log does not name. */
const recordTunnel = (
  { database }: GatewayContext,
  { tenantId, actorId }: Principal,
  { traceId, destinationHost = '' }: Call,
): Promise<void> =>
  record(database.shareOf(tenantId), {
    ...{ tenantId, actorId, traceId, destinationHost },
    ...{ operation: 'tunnel.open', entityType: 'tenant', entityId: tenantId, outcome: 'success' },
  });

async function dial(
  ctx: GatewayContext,
  res: CallerResponse,
  { host, port }: ForwardTarget,
  owner: string,
): Promise<Socket> {
  const aborting = new AbortController();
  const left = new CallerLeft(res);
  left.addEventListener('abort', () => aborting.abort());
  try {
    return await ctx.egress.dial({ host, port, owner, tls: false, signal: aborting.signal });
  } catch (error) {
    if (error instanceof Problem) throw error;
    const late = error instanceof EgressUnreachable && error.code === 'ETIMEDOUT';
    throw new Problem(late ? 'destination_timeout' : 'destination_unreachable', {
      failure:
        error instanceof EgressUnreachable
          ? { phase: error.phase, reason: error.reason }
          : undefined,
      cause: error,
    });
  } finally {
    res.exchange = undefined;
  }
}

const withoutAuthority = (): Problem =>
  new Problem('conflict', {
    detail:
      'The tenant has no certificate authority of forward mode: GET /tenants/self/forward-ca makes it.',
  });
