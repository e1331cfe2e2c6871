import type { Readable } from 'node:stream';

export interface ClientRequest {
  readonly method: string;
  /** origin-form: path and query as the destination shall see them */
  readonly target: string;
  /** value of Host */
  readonly host: string;
  /** name, value, name, value…: no Host, no framing, nothing about the connection */
  readonly headers: readonly string[];
  readonly body: Buffer | StreamedSource | null;
  /** adds `connection: upgrade`, `upgrade: websocket` */
  readonly upgrade: 'websocket' | null;
}

export interface StreamedSource {
  readonly stream: Readable;
  /** undefined: chunked */
  readonly length: number | undefined;
}

/** The request cannot be written as it is. */
export class RequestInvalid extends Error {
  override readonly name = 'RequestInvalid';
}
