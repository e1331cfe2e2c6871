import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import { isBusy } from './caller-connection';
import type { Decision } from './decision';
import { isProxyPath } from './route';

/**
 * A request whose offer to upgrade is taken up only where it can be: Node 20 knows no other way to
 * serve the others (h2c of curl and Java, CONNECT) as the ordinary requests that they also are.
 */
export class CallerRequest extends IncomingMessage {
  private offered: boolean | null = false;
  private accepted: boolean | undefined;

  // Node asks again with later bytes: once decided, the answer stays.
  get upgrade(): boolean {
    if (!this.offered) return false;
    this.accepted ??= isWebSocket(this) && !isBusy(this.socket);
    return this.accepted;
  }

  // The base constructor sets null before there are fields.
  set upgrade(offered: boolean | null) {
    this.offered = offered;
  }
}

function isWebSocket({ method, url, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    isProxyPath(url ?? '')
  );
}

export function isUpgrade(req: IncomingMessage): boolean {
  return req instanceof CallerRequest && req.upgrade;
}

/**
 * Node hands over a bare socket with the offer. With a response on it, an upgrade is answered like
 * any request until the destination has agreed.
 */
export function responseOn(req: IncomingMessage, socket: Socket, head: Buffer): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  socket.on('error', () => socket.destroy());
  socket.on('drain', () => res.emit('drain'));
  res.once('finish', () => socket.destroySoon());
  res.assignSocket(socket);
  if (head.length > 0) socket.unshift(head);
  watchForEnd(socket);
  return res;
}

/** Until the destination agrees nobody reads what the caller sends; that it left must be seen. */
function watchForEnd(socket: Socket): void {
  socket.on('readable', lookForEnd).once('end', leave);
  lookForEnd.call(socket);
}

function lookForEnd(this: Socket): void {
  if (this.readableLength === 0) this.read(0);
}

function leave(this: Socket): void {
  this.destroySoon();
}

type Decided = Pick<Decision, 'isConfirmed'>;

export function agreesToWebSocket(raw: readonly (Buffer | string)[]): boolean {
  const at = raw.findIndex((part, n) => n % 2 === 0 && part.toString().toLowerCase() === 'upgrade');
  return at >= 0 && raw[at + 1]?.toString().toLowerCase() === 'websocket';
}

const keepAliveMs = 60_000;

/** How long a tunnel may outlive what allowed it. */
const tunnelCheckMs = 1_000;

/** The connections that were upgraded: no server of Node counts them any more. */
export class Tunnels {
  readonly #open = new Map<Duplex, Decided>();
  #checks: NodeJS.Timeout | undefined;
  #ended = false;

  /**
   * The destination has agreed: 101 to the caller, and from then on bytes both ways, until `closed`,
   * and no longer than the call would be decided as it was.
   */
  open(
    res: ServerResponse,
    headers: readonly string[],
    destination: Duplex,
    { decision, closed }: { readonly decision: Decided; readonly closed: () => void },
  ): void {
    const caller = res.req.socket;
    res.writeHead(101, [...framelessly(headers), 'Connection', 'Upgrade', 'Upgrade', 'websocket']);
    res.flushHeaders();
    caller.off('readable', lookForEnd).off('end', leave);
    caller.setNoDelay(true).setKeepAlive(true, keepAliveMs);
    const close = (): void => {
      caller.destroySoon();
      destination.destroy();
      if (this.#open.delete(destination)) closed();
      if (this.#open.size === 0) this.#check(false);
    };
    this.#open.set(destination, decision);
    this.#check(true);
    pipeline(caller, destination, close);
    pipeline(destination, caller, close);
    if (this.#ended) destination.destroy();
  }

  /** A tunnel may live for ever: when the process stops, callers connect again elsewhere. */
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
    for (const [destination, decision] of this.#open) {
      try {
        decision.isConfirmed();
      } catch {
        destination.destroy();
      }
    }
  }
}

/** A 101 has no body, whatever length the destination gives it. */
function framelessly(headers: readonly string[]): string[] {
  return headers.filter((_, at) => headers[at - (at % 2)]?.toLowerCase() !== 'content-length');
}
