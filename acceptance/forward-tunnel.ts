import { once } from 'node:events';
import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { call, type Product } from './product';

/** The certificates that clients of a tenant have to trust. */
export async function forwardAuthority(
  { baseUrl, adminKey }: Product,
  key = adminKey,
): Promise<string> {
  const { body } = await call('GET', `${baseUrl}/tenants/self/forward-ca`, { key });
  return String(body.certificates);
}

/** Opens a tunnel of forward mode to `host:port`. */
export async function connectThrough(
  { forwardUrl }: Product,
  authority: string,
  key: string,
): Promise<Socket> {
  const { hostname, port } = new URL(forwardUrl);
  const opened = request({
    ...{ host: hostname, port, agent: false, method: 'CONNECT', path: authority },
    headers: { 'proxy-authorization': `Bearer ${key}` },
  }).end();
  const [{ statusCode }, socket] = (await once(opened, 'connect')) as [IncomingMessage, Socket];
  if (statusCode !== 200) throw new Error(`CONNECT ${authority}: ${statusCode}`);
  return socket;
}

/** Opens a tunnel of forward mode to port 443 of the host, and speaks TLS in it. */
export async function openTunnel(
  product: Product,
  { host, key, ca }: { host: string; key: string; ca: string },
): Promise<TLSSocket> {
  const socket = await connectThrough(product, `${host}:443`, key);
  const tunnel = connect({ socket, servername: host, ca });
  await once(tunnel, 'secureConnect');
  return tunnel;
}

/** Sends a request, and returns its answer. Throws on any status but 200. */
export async function answerTo(options: RequestOptions, body = ''): Promise<string> {
  const sent = request(options).end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const text = `${answer.rawHeaders.join('\n')}\n${await textOf(answer)}`;
  if (answer.statusCode !== 200) throw new Error(`forward mode: ${answer.statusCode} ${text}`);
  return text;
}
