import { connect, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { RunnerAddress } from './runner-address';
import type { JsonObject } from '../frames';
import { runnerTls, tlsKeyOf } from './runner-tls';

/** `onOpen` gets what HELLO says to prove this side. Until then the runner may be anybody. */
export type OpenSocket = (onOpen: (proof: JsonObject) => void) => Socket;

/**
 * A Unix socket is protected by the mode of its file, and HELLO carries the secret. Over TCP both
 * sides prove by TLS that they have it. `onDistrust` hears once, until it succeeds, that they do not.
 */
export function socketOpener(
  address: RunnerAddress,
  secret: string,
  onDistrust: (error: Error) => void,
): OpenSocket {
  if ('path' in address) {
    return (onOpen) => {
      const socket = connect(address);
      return socket.once('connect', () => onOpen({ secret }));
    };
  }
  const key = tlsKeyOf(secret);
  // Trusts no certificate at all: with the roots of Node, anybody who has a certificate would do.
  const secureContext = createSecureContext({ ...runnerTls, ca: [] });
  let isKnown = false;
  return (onOpen) => {
    const socket = connectTls({
      ...address,
      secureContext,
      pskCallback: () => key,
      // Asked about certificates alone.
      checkServerIdentity: () => new Error('the runner does not have the key'),
    });
    socket.once('secureConnect', () => {
      isKnown = false;
      onOpen({});
    });
    socket.once('error', (error) => {
      const isOfNetwork = 'syscall' in error;
      if (isOfNetwork || isKnown) return;
      isKnown = true;
      onDistrust(error);
    });
    return socket;
  };
}
