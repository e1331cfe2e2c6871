import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The way of the product to one of its stores, for a test to break. */
export class TcpRelay {
  readonly #sockets = new Set<Socket>();
  readonly #target: URL;
  readonly #server = createServer((near) => this.#open(near));
  #held: (() => void)[] | undefined;
  #port = 0;

  constructor(target: string) {
    this.#target = new URL(target);
  }

  async start(): Promise<this> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** The URL, with this line in the place of the server. */
  through(url: string): string {
    const through = new URL(url);
    through.port = String(this.#port);
    return through.href;
  }

  /** As if the server were gone: connections break, new ones are refused. */
  async cut(): Promise<void> {
    this.#held = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  /** As if the network lost everything: connections stay and new ones open, nothing comes through. */
  stall(): void {
    this.#held ??= [];
  }

  /** What a stall held back arrives now. */
  async restore(): Promise<void> {
    const steps = this.#held ?? [];
    this.#held = undefined;
    for (const step of steps) step();
    if (!this.#server.listening) await this.start();
  }

  #open(near: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname);
    this.#join(near, far);
    this.#join(far, near);
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    const pass = (step: () => void): void => (this.#held ? void this.#held.push(step) : step());
    from.on('data', (chunk) => pass(() => to.writable && to.write(chunk)));
    from.on('error', () => from.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      pass(() => to.destroy());
    });
  }
}
