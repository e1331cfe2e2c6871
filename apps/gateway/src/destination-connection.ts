import { Client, errors, type buildConnector, type Dispatcher } from 'undici';
import { Problem } from '@glovebox/problems';
import type { Breaker } from './breaker';

export type Connector = buildConnector.connector;

/** A call that learns which connection carries it. */
export interface Carried extends Dispatcher.DispatchHandler {
  carriedBy(connection: Connection): void;
  /** It waits for its turn to open a connection, and may leave. */
  waits(leave: (reason?: Error) => void): void;
}

/** What undici knows of a connection and does not tell. */
export class Connection extends Client {
  /** Has carried an answer since it was opened: only such a one can have gone stale. */
  used = false;
  /** Ended by an error: undici takes a body without a length for whole even then. */
  broken = false;

  constructor(
    origin: URL | string,
    options: Client.Options,
    connector: Connector,
    breaker: Breaker,
  ) {
    super(origin, {
      ...options,
      connect: (to: buildConnector.Options, callback: buildConnector.Callback) =>
        connector(to, (...[error, socket]) => {
          if (error) {
            // A share that is used up says nothing of the destination.
            if (!(error instanceof Problem)) breaker.failed();
            return callback(error, null);
          }
          breaker.connected();
          this.used = false;
          this.broken = false;
          // Ahead of undici's own listener.
          socket.once('error', (cause) => {
            this.broken = true;
            countAsSent(cause);
          });
          callback(null, socket);
        }),
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, call: Carried): boolean {
    call.carriedBy(this);
    return super.dispatch(options, call);
  }
}

/**
 * With this error undici ends the connection of a call that it has aborted, and by its code it takes the
 * call for one still to be sent: it would connect anew for it and let that connection idle. With this
 * other code the call ends with its connection, and one that waits behind it goes on as before.
 */
function countAsSent(error: Error): void {
  if (error instanceof errors.InformationalError && error.message === 'aborted') {
    Object.assign(error, { code: 'UND_ERR_SOCKET' });
  }
}
