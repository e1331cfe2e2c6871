import { constants } from 'node:crypto';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:tls';
import { runnerTls, tlsKeyOf } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import { aLineAMinute } from '../a-line-a-minute';
import { Handshakes } from './handshakes';

/** `onClient` gets the sockets of callers that proved to have one of the secrets. */
export function createTlsServer(
  secrets: readonly string[],
  logger: Logger,
  onClient: (socket: Socket) => void,
): Server {
  const keys = new Map(secrets.map(tlsKeyOf).map(({ identity, psk }) => [identity, psk]));
  // Many strangers may knock.
  const logRefusal = aLineAMinute((reason, before) =>
    logger.warn({ reason, before }, 'a connection did not prove to have RUNNER_SECRET'),
  );
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
