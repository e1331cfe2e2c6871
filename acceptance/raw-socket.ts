import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connectThrough, forwardAuthority, openTunnel } from './forward-tunnel';
import { create, reactorOf, type Product } from './product';

/** A target with the headers that a request there needs if it is not hostile, beside `Host: a`. */
export interface Place {
  readonly path: string;
  readonly headers: string;
  /** Opens a connection that takes such requests. */
  open(): Socket | Promise<Socket>;
}

/** The places that lead to a proxy. */
export const proxyPlaces = ['/proxy', 'a tunnel', 'a tunnel without TLS', 'a whole URL'] as const;

/** A proxy by all its ways, a reactor and the management API: everything that serves requests. */
export async function rawPlaces(product: Product, destinationUrl: string) {
  const { adminKey, privateKey } = product;
  // The specs of one run share a tenant, in which no two proxies match alike.
  const path = `/raw-${randomUUID()}`;
  const proxy = await create(product, '/proxies', {
    name: 'raw',
    destination_url: destinationUrl,
    match: { hosts: ['a', 'http://a'], paths: [path] },
  });
  const reactor = await reactorOf(product, 'module.exports = async () => ({ raw: { ran: true } })');
  const ca = await forwardAuthority(product);
  const open = (): Socket => connectTo(product.baseUrl);
  const json = 'Content-Type: application/json\r\n';
  return {
    '/proxy': {
      path: '/proxy/raw',
      headers: `SVC-API-KEY: ${privateKey}\r\nSVC-PROXY-KEY: ${String(proxy.key)}\r\n`,
      open,
    },
    '/react': {
      path: `/reactors/${reactor}/react`,
      headers: `SVC-API-KEY: ${privateKey}\r\n${json}`,
      open,
    },
    management: { path: '/reactor-formulas', headers: `SVC-API-KEY: ${adminKey}\r\n${json}`, open },
    'a tunnel': {
      ...{ path, headers: '' },
      open: () => openTunnel(product, { host: 'a', key: privateKey, ca }),
    },
    'a tunnel without TLS': {
      ...{ path, headers: '' },
      open: () => connectThrough(product, 'a:80', privateKey),
    },
    'a whole URL': {
      path: `http://a${path}`,
      headers: `Proxy-Authorization: Bearer ${privateKey}\r\n`,
      open: () => connectTo(product.forwardUrl),
    },
  } satisfies Record<string, Place>;
}

function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

/** Sends bytes as they are; returns all that the server sends before it ends the connection. */
export async function talk(
  to: string | Pick<Place, 'open'>,
  ...parts: readonly string[]
): Promise<string> {
  const socket = typeof to === 'string' ? connectTo(to) : await to.open();
  return new Promise((resolve, reject) => {
    let answer = '';
    socket.setNoDelay(true);
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
    for (const part of parts) socket.write(part, 'latin1');
  });
}

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Splits answers by their lengths. A byte too many or too few fails the test. */
export function answersIn(text: string): Answer[] {
  const answers: Answer[] = [];
  let rest = text;
  while (rest !== '') {
    const [, head = '', status] = /^(HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n)/.exec(rest) ?? [];
    if (status === undefined) throw new Error(`no answer: ${rest}`);
    const { body, bytes } = bodyOf(head, rest.slice(head.length));
    rest = rest.slice(head.length + bytes);
    if (status !== '100') answers.push({ status: Number(status), head, body });
  }
  return answers;
}

function bodyOf(head: string, rest: string): { body: string; bytes: number } {
  if (!/^transfer-encoding: chunked\r$/im.test(head)) {
    const length = /^content-length: (\d+)\r$/im.exec(head)?.[1];
    const untilEnd = /^connection: close\r$/im.test(head) ? rest.length : 0;
    const bytes = length === undefined ? untilEnd : Number(length);
    return { body: rest.slice(0, bytes), bytes };
  }
  let body = '';
  for (let at = 0; ;) {
    const [line = '', size = ''] = /^([\da-f]+)\r\n/i.exec(rest.slice(at)) ?? [];
    const length = parseInt(size, 16);
    if (Number.isNaN(length)) throw new Error(`no chunk: ${rest.slice(at)}`);
    body += rest.slice(at + line.length, at + line.length + length);
    at += line.length + length + 2;
    if (length === 0) return { body, bytes: at };
  }
}
