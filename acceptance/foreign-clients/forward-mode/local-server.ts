import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Authority } from '@glovebox/testing';

export interface LocalServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A server on this machine; of https where there is an authority. */
export async function startLocalServer(
  listener: RequestListener,
  authority?: Authority,
): Promise<LocalServer> {
  const server = authority
    ? createHttpsServer(authority.issue('IP:127.0.0.1'), listener)
    : createHttpServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${authority ? 'https' : 'http'}://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
