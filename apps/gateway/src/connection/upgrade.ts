import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import type { Decision } from '@glovebox/definitions';
import { CallerResponse } from './caller-response';

/**
 * Node hands over a bare socket with an offer to upgrade. With a response on it, the offer is
 * answered like any request until the destination has agreed.
 */
export function responseOn(req: IncomingMessage, socket: Socket, head: Buffer): CallerResponse {
  const res = new CallerResponse(req);
  res.shouldKeepAlive = false;
  socket.on('error', () => socket.destroy());
  socket.on('drain', () => res.emit('drain'));
  res.once('finish', () => socket.destroySoon());
  res.assignSocket(socket);
  if (head.length > 0) socket.unshift(head);
  watchForEnd(socket);
  return res;
}

/**
 * Nobody reads from the caller until the destination agrees, but the caller's leaving must be
 * noticed.
 */
function watchForEnd(socket: Socket): void {
  socket.on('readable', lookForEnd).once('end', leave);
  lookForEnd.call(socket);
}

/** Tells the caller that all that follows on its connection is a tunnel, and gives the connection. */
export function acceptConnect(res: CallerResponse): Socket {
  const { socket } = res.req;
  for (const name of ['date', 'connection', 'transfer-encoding']) res.removeHeader(name);
  res.writeHead(200, 'Connection Established');
  res.flushHeaders();
  socket.off('readable', lookForEnd).off('end', leave);
  return socket;
}

function lookForEnd(this: Socket): void {
  if (this.readableLength === 0) this.read(0);
}

function leave(this: Socket): void {
  this.destroySoon();
}

export function agreesToWebSocket(raw: readonly string[]): boolean {
  const at = raw.findIndex((part, n) => n % 2 === 0 && part.toLowerCase() === 'upgrade');
  return at >= 0 && raw[at + 1]?.toLowerCase() === 'websocket';
}

type TunnelDecision = Pick<Decision<object>, 'isConfirmed' | 'confirm'>;

interface TunnelRules {
  readonly decision: TunnelDecision;
  readonly closed: () => void;
}

/** How long nothing may move in a tunnel that nobody reads. */
interface UnreadRules {
  readonly idleMs: number;
}

interface OpenTunnel {
  readonly decision: TunnelDecision;
  readonly isUnread: boolean;
}

const keepAliveMs = 60_000;

/** Listeners of one event on either side: two pipelines have more than Node takes for usual. */
const listenersExpected = 20;

/** The longest time that a tunnel outlives the decision that allowed it. */
const tunnelCheckMs = 1_000;

/** The upgraded connections, which no server of Node counts any more. */
export class Tunnels {
  readonly #open = new Map<Duplex, OpenTunnel>();
  #checks: NodeJS.Timeout | undefined;
  #ended = false;

  /** Sends 101 to the caller once the destination has agreed, and joins the two. */
  open(
    res: ServerResponse,
    headers: readonly string[],
    destination: Duplex,
    { decision, closed }: TunnelRules,
  ): void {
    const caller = res.req.socket;
    res.writeHead(101, [...framelessly(headers), 'Connection', 'Upgrade', 'Upgrade', 'websocket']);
    res.flushHeaders();
    caller.off('readable', lookForEnd).off('end', leave);
    this.join(caller, destination, { decision, closed });
  }

  /**
   * Passes bytes both ways until either side closes or the decision no longer holds. An unread tunnel
   * also ends when nothing moves in it, and when nobody knows whether the decision holds: it stands
   * for requests that would each be refused then. Calls `closed` at the end.
   */
  join(
    caller: Socket,
    destination: Duplex,
    { decision, closed, unread }: TunnelRules & { readonly unread?: UnreadRules },
  ): void {
    caller.setNoDelay(true).setKeepAlive(true, keepAliveMs);
    const close = (): void => {
      caller.destroySoon();
      destination.destroy();
      if (this.#open.delete(destination)) closed();
      if (this.#open.size === 0) this.#check(false);
    };
    // Bytes of either way pass the caller's side.
    caller.setTimeout(unread?.idleMs ?? 0, () => destination.destroy());
    this.#open.set(destination, { decision, isUnread: unread !== undefined });
    this.#check(true);
    for (const side of [caller, destination]) side.setMaxListeners(listenersExpected);
    pipeline(caller, destination, close);
    pipeline(destination, caller, close);
    if (this.#ended) destination.destroy();
  }

  /** Tunnels may live for ever. Callers connect again elsewhere when the process stops. */
  end(): void {
    this.#ended = true;
    for (const destination of this.#open.keys()) destination.destroy();
  }

  #check(isOn: boolean): void {
    if (isOn) this.#checks ??= setInterval(() => this.#endChanged(), tunnelCheckMs).unref();
    else {
      clearInterval(this.#checks);
      this.#checks = undefined;
    }
  }

  #endChanged(): void {
    for (const [destination, { decision, isUnread }] of this.#open) {
      const end = (): void => void destination.destroy();
      try {
        if (!decision.isConfirmed() && isUnread) void decision.confirm().catch(end);
      } catch {
        end();
      }
    }
  }
}

/** A 101 has no body, whatever length the destination gives it. */
function framelessly(headers: readonly string[]): string[] {
  return headers.filter((_, at) => headers[at - (at % 2)]?.toLowerCase() !== 'content-length');
}
