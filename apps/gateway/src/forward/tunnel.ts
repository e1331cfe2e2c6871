import type { Socket } from 'node:net';
import { TLSSocket, type SecureContext } from 'node:tls';
import { deadlines, type Limited } from '@glovebox/service-host';
import type { ForwardTarget } from './forward-target';

/** What a client said when it opened its tunnel. */
export interface Tunnel {
  readonly target: ForwardTarget;
  /** Each request within is authorised by it anew. */
  readonly key: string;
  /** The name that TLS was asked for; undefined where the client sent none. */
  readonly serverName: string | undefined;
}

const tunnelOfSocket = Symbol('tunnel');

type InnerSocket = Socket & { [tunnelOfSocket]?: Tunnel };

/** Undefined: the request did not come through a tunnel. */
export const tunnelOf = (socket: InnerSocket): Tunnel | undefined => socket[tunnelOfSocket];

interface Opening {
  readonly target: ForwardTarget;
  readonly key: string;
  readonly context: SecureContext;
  readonly handshakeMs: number;
  /** Called once, when the connection is closed. */
  readonly closed: () => void;
}

/**
 * Speaks TLS with a client in the place of the host that it wants to reach. Resolves when requests
 * may come; undefined where the client made no handshake in time.
 */
export function openTunnel(
  socket: Socket,
  { target, key, context, handshakeMs, closed }: Opening,
): Promise<TLSSocket | undefined> {
  const inner: TLSSocket & InnerSocket = new TLSSocket(socket, {
    isServer: true,
    secureContext: context,
    // curl names 1.0 where it is told to speak it.
    ALPNProtocols: ['http/1.1', 'http/1.0'],
  });
  return new Promise((resolve) => {
    const limit: Limited = { place: -1, dueAt: 0, expire: () => inner.destroy() };
    deadlines.set(limit, handshakeMs);
    inner.on('error', () => inner.destroy());
    inner.once('close', () => {
      deadlines.clear(limit);
      socket.destroy();
      closed();
      resolve(undefined);
    });
    inner.once('secure', () => {
      deadlines.clear(limit);
      const { servername } = inner as { servername?: string | false | null };
      inner[tunnelOfSocket] = { target, key, serverName: servername || undefined };
      resolve(inner);
    });
    if (socket.destroyed) inner.destroy();
  });
}
