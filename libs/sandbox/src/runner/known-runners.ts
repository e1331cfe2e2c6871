import { isIP } from 'node:net';
import { parseRunnerAddress } from './runner-address';
import type { RunnerConnection } from './runner-connection';

/** Asks for the addresses of a name. Rejects where it has none, or where nobody knows. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

interface KnownRunner {
  /** With an address in the place of a name. */
  readonly url: string;
  readonly connection: RunnerConnection;
}

/**
 * The runners of RUNNER_URLS. A name stands for all its addresses, each of which is a runner. At an
 * interval names are asked for again, and connections that broke are made again.
 */
export class KnownRunners {
  #now: readonly KnownRunner[] = [];
  /** The runners that each of RUNNER_URLS stands for. */
  readonly #behind = new Map<string, readonly string[]>();
  /** No longer known. The runs that they have go on. */
  readonly #leaving = new Set<RunnerConnection>();
  readonly #first: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;
  #isClosed = false;

  constructor(
    private readonly urls: readonly string[],
    intervalMs: number,
    private readonly resolve: ResolveName,
    private readonly connect: (url: string) => RunnerConnection,
  ) {
    for (const url of urls) this.#behind.set(url, nameOf(url) === undefined ? [url] : []);
    this.#replace();
    this.#first = this.#refresh();
    this.#timer = setInterval(() => void this.#refresh(), intervalMs).unref();
  }

  get now(): readonly KnownRunner[] {
    return this.#now;
  }

  /** Waits until each name was asked for once. */
  async afterFirstAnswers(): Promise<readonly KnownRunner[]> {
    await this.#first;
    return this.#now;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const connections = [...this.#now.map(({ connection }) => connection), ...this.#leaving];
    await Promise.all(connections.map((connection) => connection.close()));
  }

  async #refresh(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    await Promise.all(this.urls.map((url) => this.#ask(url)));
    this.#isAsking = false;
    if (this.#isClosed) return;
    this.#replace();
    for (const { connection } of this.#now) void connection.open();
  }

  /**
   * Without an answer nothing changes: the connection to a runner shows whether it is still there.
   * A runner listens in one family, so that IPv6 counts where there is no IPv4 alone.
   */
  async #ask(url: string): Promise<void> {
    const name = nameOf(url);
    if (name === undefined) return;
    const addresses = await this.resolve(name).catch(() => []);
    const v4 = addresses.filter((address) => isIP(address) === 4);
    const v6 = addresses.filter((address) => !address.includes('%'));
    const usable = v4.length > 0 ? v4 : v6.map((address) => `[${address}]`);
    const port = url.slice(url.lastIndexOf(':'));
    if (usable.length > 0) {
      this.#behind.set(
        url,
        usable.map((address) => `tcp://${address}${port}`),
      );
    }
  }

  #replace(): void {
    const before = new Map(this.#now.map((runner) => [runner.url, runner]));
    const urls = new Set([...this.#behind.values()].flat());
    this.#now = [...urls].map((url) => before.get(url) ?? { url, connection: this.connect(url) });
    for (const { url, connection } of before.values()) {
      if (!urls.has(url)) this.#leave(connection);
    }
  }

  #leave(connection: RunnerConnection): void {
    this.#leaving.add(connection);
    void connection.leave().finally(() => this.#leaving.delete(connection));
  }
}

function nameOf(url: string): string | undefined {
  const address = parseRunnerAddress(url);
  return 'path' in address || isIP(address.host) !== 0 ? undefined : address.host;
}
