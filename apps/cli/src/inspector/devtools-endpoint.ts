import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { codeOf, usage } from '../failure';

/** What a debugger shows of the code before it attaches. */
export interface Target {
  readonly title: string;
  /** A `file:` URL. */
  readonly url: string;
}

/** Is told what a debugger does. */
export interface DebuggerListener {
  attached(): void;
  said(message: string): void;
  left(): void;
}

const host = '127.0.0.1';
/** Of a message of a debugger. As text in a line of JSON it may be six times as long. */
const messageBytesMax = 1024 * 1024;
/** Bytes that a debugger may leave unread. */
const unreadBytesMax = 64 * 1024 * 1024;
const goodbyeMs = 1_000;

/** Serves debuggers as a process of `node --inspect` does, one at a time. */
export class DevtoolsEndpoint {
  readonly #id = randomUUID();
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax });
  #debugger: WebSocket | undefined;

  private constructor(
    private readonly target: Target,
    private readonly listener: DebuggerListener,
  ) {
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** On this machine alone. Port 0 is any free one. */
  static async open(
    port: number,
    target: Target,
    listener: DebuggerListener,
  ): Promise<DevtoolsEndpoint> {
    const endpoint = new DevtoolsEndpoint(target, listener);
    const server = endpoint.#server;
    await new Promise<void>((done, fail) => {
      server.once('error', (error) => fail(whyNotOpen(error, port)));
      server.listen(port, host, done);
    });
    return endpoint;
  }

  /** As editors know it: `127.0.0.1:9229`. */
  get address(): string {
    return `${host}:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `ws://${this.address}/${this.#id}`;
  }

  get hasDebugger(): boolean {
    return this.#debugger !== undefined;
  }

  send(message: string): void {
    const socket = this.#debugger;
    if (!socket) return;
    if (socket.bufferedAmount > unreadBytesMax) socket.terminate();
    else socket.send(message);
  }

  /** Ends the session of the debugger, as the end of a process does. */
  dismiss(code = 1000, reason = ''): void {
    const socket = this.#debugger;
    if (!socket) return;
    this.#forget(socket);
    socket.close(code, reason);
    const waiting = setTimeout(() => socket.terminate(), goodbyeMs);
    socket.once('close', () => clearTimeout(waiting));
  }

  close(): void {
    this.#debugger?.terminate();
    this.#sockets.clients.forEach((socket) => socket.terminate());
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer({ method, url, headers }: IncomingMessage, response: ServerResponse): void {
    // A page whose name leads to this machine is no debugger.
    if (!isOfThisMachine(headers.host)) return void response.writeHead(400).end();
    const found = method === 'GET' ? this.#documentAt(url) : undefined;
    if (found === undefined) return void response.writeHead(404).end();
    const type = 'application/json; charset=UTF-8';
    response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-cache' });
    response.end(JSON.stringify(found, null, 2));
  }

  #documentAt(path: string | undefined): unknown {
    if (path === '/json/version') {
      return { Browser: `node.js/${process.version}`, 'Protocol-Version': '1.1' };
    }
    return path === '/json' || path === '/json/list' ? [this.#description()] : undefined;
  }

  /** The same members as those of Node. */
  #description(): object {
    const frontend = (page: string): string =>
      `devtools://devtools/bundled/${page}?experiments=true&v8only=true&ws=${this.address}/${this.#id}`;
    return {
      description: 'node.js instance',
      devtoolsFrontendUrl: frontend('js_app.html'),
      devtoolsFrontendUrlCompat: frontend('inspector.html'),
      id: this.#id,
      title: this.target.title,
      type: 'node',
      url: this.target.url,
      webSocketDebuggerUrl: this.url,
    };
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const { url, headers } = request;
    const isDebugger = isOfThisMachine(headers.host) && isOfNoPage(headers.origin);
    // A dropped debugger keeps its place until it has closed.
    if (!isDebugger || url !== `/${this.#id}` || this.#debugger) {
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (attached) => this.#attach(attached));
  }

  #attach(socket: WebSocket): void {
    this.#debugger = socket;
    socket.on('message', (data: RawData) => {
      if (this.#debugger === socket) this.listener.said((data as Buffer).toString('utf8'));
    });
    // It is closed after an error.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#forget(socket));
    this.listener.attached();
  }

  #forget(socket: WebSocket): void {
    if (this.#debugger !== socket) return;
    this.#debugger = undefined;
    this.listener.left();
  }
}

function whyNotOpen(error: Error, port: number): Error {
  if (codeOf(error) === 'EADDRINUSE') {
    const hint = 'Say another one, or --inspect 0 for any free one.';
    return usage(`Port ${port}, where the debugger would attach, is in use.`, hint);
  }
  if (codeOf(error) === 'EACCES') return usage(`Port ${port} may not be used.`, 'Say another one.');
  return error;
}

/** Whether a Host header names no machine by a name of DNS. */
function isOfThisMachine(header = ''): boolean {
  const name = header.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isIP(name) !== 0;
}

const isOfNoPage = (origin: string | undefined): boolean =>
  origin === undefined || origin.startsWith('devtools://');
