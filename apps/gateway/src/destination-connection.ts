import { Client, type buildConnector, type Dispatcher } from 'undici';
import type { Breaker } from './breaker';

export type Connector = buildConnector.connector;

/** A call that learns which connection carries it. */
export interface Carried extends Dispatcher.DispatchHandler {
  carriedBy(connection: Connection): void;
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
            breaker.failed();
            return callback(error, null);
          }
          breaker.connected();
          this.used = false;
          this.broken = false;
          socket.once('error', () => {
            this.broken = true;
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
