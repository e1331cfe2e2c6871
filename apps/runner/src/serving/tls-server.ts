import { constants } from 'node:crypto';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:tls';
import { runnerTls, tlsKeyOf } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import { Handshakes } from './handshakes';

const refusalLogMs = 60_000;

/** `onClient` gets the sockets of callers that proved to have one of the secrets. */
export function createTlsServer(
  secrets: readonly string[],
  logger: Logger,
  onClient: (socket: Socket) => void,
): Server {
  const keys = new Map(secrets.map(tlsKeyOf).map(({ identity, psk }) => [identity, psk]));
  const logRefusal = refusalLog(logger);
  const handshakes = new Handshakes(logRefusal);
  const server = createServer({
    ...runnerTls,
    // With a ticket, a caller would come back after its secret was taken away.
    secureOptions: constants.SSL_OP_NO_TICKET,
    pskCallback: (_socket, identity) => keys.get(identity) ?? null,
  });
  // In front of the listener that begins to speak TLS.
  server.prependListener('connection', (socket: Socket) => handshakes.begin(socket));
  server.on('secureConnection', (socket) => {
    handshakes.succeed(socket);
    onClient(socket);
  });
  server.on('tlsClientError', ({ code }: NodeJS.ErrnoException) => {
    const isGone = code === 'ECONNRESET';
    if (!isGone) logRefusal(code ?? 'unknown');
  });
  return server;
}

/** However many strangers knock, each reason is one line a minute. */
function refusalLog(logger: Logger): (reason: string) => void {
  const lines = new Map<string, { readonly at: number; unsaid: number }>();
  return (reason) => {
    const now = performance.now();
    const last = lines.get(reason);
    if (last !== undefined && now - last.at < refusalLogMs) {
      last.unsaid += 1;
      return;
    }
    lines.set(reason, { at: now, unsaid: 0 });
    logger.warn(
      { reason, before: last?.unsaid ?? 0 },
      'a connection did not prove to have RUNNER_SECRET',
    );
  };
}
