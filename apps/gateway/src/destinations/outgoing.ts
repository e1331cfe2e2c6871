import type { OutgoingBody } from '../connection/request-body';

/** The caller's part of the request to a destination. */
export interface Outgoing {
  /** The path behind `/proxy`. */
  readonly suffix: string;
  readonly query: string;
  readonly headers: string[];
  readonly body: OutgoingBody;
}

export type Head = Omit<Outgoing, 'body'>;
