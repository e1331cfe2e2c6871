import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { createAuthority as createForwardAuthority } from '@glovebox/certificates';
import type { ProxyDefinition } from '@glovebox/definitions';
import { createAuthority, waitFor } from '@glovebox/testing';
import { startSpecGateway } from '../spec-gateway';

/** Starts a gateway that also serves forward mode, for a tenant that has an authority. */
export async function startSpecForward(environment: Record<string, string> = {}) {
  const gateway = await startSpecGateway({ FORWARD_PORT: '0', ...environment });
  const authority = createForwardAuthority('authority of a tenant');
  const { forwardServer } = gateway;
  const { forwardPort } = gateway.ports;
  if (!forwardServer || forwardPort === undefined)
    throw new Error('the gateway has no forward port');
  const defineAuthority = (tenantId = gateway.tenantId): Promise<void> => {
    const authorities = [{ ...authority, until: null }];
    return gateway.define({ kind: 'authority', id: tenantId, tenantId, authorities });
  };
  await defineAuthority();
  return { ...gateway, forwardServer, forwardPort, authority, defineAuthority };
}

export type SpecForward = Awaited<ReturnType<typeof startSpecForward>>;

/** The part of a proxy by which forward mode finds it. */
export const matching = (
  hosts: readonly string[],
  { paths = [] as string[], methods = [] as string[] } = {},
): Pick<ProxyDefinition, 'match'> => ({ match: { hosts, methods, paths } });

interface HeardRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface TlsDestination {
  readonly port: number;
  readonly address: string;
  /** For `tls` of a proxy, which then trusts it. */
  readonly tls: NonNullable<ProxyDefinition['tls']>;
  readonly requests: HeardRequest[];
  close(): Promise<void>;
}

/** A third party on this machine that speaks TLS under 127.0.0.1. */
export async function startTlsDestination(): Promise<TlsDestination> {
  const own = createAuthority();
  const requests: HeardRequest[] = [];
  const server: Server = createServer(own.issue('IP:127.0.0.1'), (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { method = '', url = '', headers } = req;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      res.end('from the destination');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `127.0.0.1:${port}`,
    tls: { certificate: null, privateKey: null, authority: own.ca },
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The end of a client in a tunnel, with all that came back. */
export class TunnelClient {
  text = '';
  ended = false;

  /** `carrier`: the connection beneath TLS. */
  constructor(
    readonly socket: Socket,
    readonly carrier = socket,
  ) {
    socket.on('data', (chunk: Buffer) => (this.text += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.ended = true));
    socket.on('end', () => (this.ended = true));
  }

  /** The statuses of all answers so far. */
  get statuses(): number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  }

  write(...lines: string[]): void {
    this.socket.write(lines.join('\r\n'), 'latin1');
  }

  /** Sends a request without a body, and waits for the status of its answer. */
  async get(path: string, host: string, ...headers: string[]): Promise<number> {
    const before = this.statuses.length;
    this.write(`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers, '', '');
    await waitFor(() => this.statuses.length > before || this.ended);
    return this.statuses[before] ?? 0;
  }

  async done(): Promise<string> {
    await waitFor(() => this.ended);
    return this.text;
  }
}

/** Sends a CONNECT with these bytes behind it, and resolves with the bare connection. */
export async function sendConnect(
  port: number,
  authority: string,
  key: string | null,
  { behind = '', version = '1.1' } = {},
): Promise<TunnelClient> {
  const socket = connectTcp(port, '127.0.0.1');
  const client = new TunnelClient(socket);
  const credentials = key === null ? [] : [`Proxy-Authorization: Bearer ${key}`];
  const host = version === '1.0' ? [] : [`Host: ${authority}`];
  const lines = [`CONNECT ${authority} HTTP/${version}`, ...host, ...credentials, '', ''];
  client.write(lines.join('\r\n') + behind);
  await waitFor(() => client.text.includes('\r\n\r\n') || client.ended);
  return client;
}

/** Speaks TLS in the tunnel. Rejects where the client would not trust what it meets. */
export async function speakTls(
  { socket }: TunnelClient,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  socket.removeAllListeners('data').removeAllListeners('end');
  const tls = connectTls({ socket, ALPNProtocols: ['h2', 'http/1.1'], ...options });
  await once(tls, 'secureConnect');
  return tls;
}

/** A tunnel in which requests can be sent. */
export async function openTunnelTo(
  { forwardPort, authority }: Pick<SpecForward, 'forwardPort' | 'authority'>,
  address: string,
  key: string,
  options: { servername?: string; host?: string } = {},
): Promise<TunnelClient> {
  const connected = await sendConnect(forwardPort, address, key);
  expect(connected.text).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
  const [host = ''] = address.split(':');
  const ca = authority.certificate;
  const tls = await speakTls(connected, { ca, host, ...options });
  return new TunnelClient(tls, connected.socket);
}

/** A tunnel whose client speaks plain HTTP. */
export async function openPlainTunnelTo(
  { forwardPort }: Pick<SpecForward, 'forwardPort'>,
  address: string,
  key: string,
): Promise<TunnelClient> {
  const { socket, text } = await sendConnect(forwardPort, address, key);
  expect(text).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
  socket.removeAllListeners('data').removeAllListeners('end');
  return new TunnelClient(socket);
}
