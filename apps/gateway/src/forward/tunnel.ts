import type { Socket } from 'node:net';
import { TLSSocket, type SecureContext } from 'node:tls';
import { deadlines, type Limited } from '@glovebox/service-host';
import { startOver } from '../connection/caller-connection';
import { inPlain, type ForwardTarget } from './forward-target';

/** What a client said when it opened its tunnel. */
export interface Tunnel {
  readonly target: ForwardTarget;
  /** Each request within is authorised by it anew. */
  readonly key: string;
  /** The name that TLS was asked for; undefined where the client sent none, or spoke no TLS. */
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

/** The first byte of every handshake of TLS (RFC 8446, 5.1). HTTP begins with a letter. */
const handshakeRecord = 0x16;

/**
 * Speaks TLS with a client in the place of the host that it wants to reach, or plain HTTP where the
 * client does: some open tunnels for http:// as well. Resolves when requests may come; undefined
 * where the client made no handshake in time.
 */
export function openTunnel(
  socket: InnerSocket,
  { target, key, context, handshakeMs, closed }: Opening,
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const limit: Limited = { place: -1, dueAt: 0, expire: () => socket.destroy() };
    deadlines.set(limit, handshakeMs);
    const end = (): void => {
      deadlines.clear(limit);
      closed();
      resolve(undefined);
    };
    if (socket.closed) return end();
    socket.once('close', end);
    const opened = (inner: InnerSocket, tunnel: Tunnel): void => {
      deadlines.clear(limit);
      inner[tunnelOfSocket] = tunnel;
      resolve(inner);
    };
    whenItSpeaks(socket, (first) => {
      if (first === handshakeRecord) {
        const inner = speakTls(socket, context);
        inner.once('secure', () => {
          const { servername } = inner as { servername?: string | false | null };
          opened(inner, { target, key, serverName: servername || undefined });
        });
      } else {
        startOver(socket);
        opened(socket, { target: inPlain(target), key, serverName: undefined });
      }
    });
  });
}

/** Tells the first byte, which stays to be read. */
function whenItSpeaks(socket: Socket, speaks: (first: number | undefined) => void): void {
  const end = (): void => void socket.destroy();
  const look = (): void => {
    const first = socket.read(1) as Buffer | null;
    if (first === null) return;
    socket.off('readable', look).off('end', end);
    socket.unshift(first);
    speaks(first[0]);
  };
  socket.on('readable', look).once('end', end);
}

function speakTls(socket: Socket, context: SecureContext): TLSSocket {
  const inner = new TLSSocket(socket, {
    isServer: true,
    secureContext: context,
    // curl names 1.0 where it is told to speak it.
    ALPNProtocols: ['http/1.1', 'http/1.0'],
  });
  inner.on('error', () => inner.destroy());
  inner.once('close', () => socket.destroy());
  return inner;
}
