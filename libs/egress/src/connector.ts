import type { buildConnector } from 'undici';
import { dial, type Rules, type TlsMaterial } from './dial';
import { EgressRefused, EgressUnreachable } from './refusal';

/**
 * For `new Pool(origin, { connect })`. What undici derives from a request's Host header
 * (`servername`, `host`) is not looked at: the origin of the pool alone says where to go.
 */
export function createConnector(
  rules: Rules,
  owner: string,
  material: TlsMaterial = {},
): buildConnector.connector {
  return ({ hostname, protocol, port, httpSocket, socketPath }, callback) => {
    const isHttp = protocol === 'http:' || protocol === 'https:';
    if (!isHttp || httpSocket || socketPath) {
      return callback(new EgressRefused('protocol'), null);
    }
    const tls = protocol === 'https:';
    const target = {
      ...material,
      owner,
      host: hostname,
      port: Number(port || (tls ? 443 : 80)),
      tls,
    };
    dial(rules, target, 'refused').then(
      // undici would wait forever for the end of a connection that has ended before.
      (socket) =>
        socket.destroyed
          ? callback(new EgressUnreachable('ECONNRESET'), null)
          : callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}
