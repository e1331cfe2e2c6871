import { CallerRequest, isWebSocket } from '../connection/caller-request';

/** A request to the forward port, or within one of its tunnels. */
export class ForwardRequest extends CallerRequest {
  protected override mayUpgrade(): boolean {
    return this.method === 'CONNECT' ? isPlainConnect(this) : isWebSocket(this);
  }
}

/**
 * Bytes behind the head of a CONNECT belong to the tunnel: it has no body. Python up to 3.11 sends
 * it as HTTP/1.0.
 */
const isPlainConnect = ({ headers }: CallerRequest): boolean =>
  headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
