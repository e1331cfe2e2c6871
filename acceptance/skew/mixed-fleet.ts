import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startBalancer, type Balancer } from '../faults/balancer';
import type { OwnProduct } from '../own-product';
import { describeProcess, placeBeside } from '../processes';
import { until } from '../product';

export type App = 'runner' | 'worker' | 'gateway' | 'management-api';
export type Release = 'old' | 'new';

/** The order in which an upgrade exchanges them: readers first, and what writes definitions last. */
export const exchangeOrder: readonly App[] = ['runner', 'worker', 'gateway', 'management-api'];

const here = join(__dirname, '../..');

/** Builds the newest release into a folder of its own. */
export async function buildRelease(): Promise<{ readonly folder: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-release-'));
  // Sandboxes of a runner that is root read the programs here.
  chmodSync(folder, 0o755);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const script = join(here, 'tools/build-release.mjs');
  await promisify(execFile)(process.execPath, [script, folder]).catch((error: unknown) => {
    remove();
    throw error;
  });
  return { folder, remove };
}

interface Member {
  readonly app: App;
  readonly release: Release;
  readonly url: string;
  readonly opsUrl: string;
  readonly child: ChildProcess;
  readonly logs: string[];
}

/**
 * Processes of two releases on the stores of one product. Its own apps end: nothing but these is at
 * work. Gateways and the management API are behind balancers, and runners at lasting addresses.
 */
export class MixedFleet {
  readonly #members = new Set<Member>();
  readonly #sockets: readonly string[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'glovebox-skew-'));
  readonly #described: Readonly<Record<App, ReturnType<typeof describeProcess>>>;

  private constructor(
    product: OwnProduct,
    private readonly roots: Readonly<Record<Release, string>>,
    private readonly balancers: Readonly<Record<'management-api' | 'gateway', Balancer>>,
    size: number,
  ) {
    chmodSync(this.#folder, 0o711);
    this.#sockets = Array.from({ length: size }, (_, nth) => join(this.#folder, `runner-${nth}`));
    const described = (app: App) => describeProcess(product.pids[app] ?? 0);
    this.#described = {
      runner: described('runner'),
      worker: described('worker'),
      gateway: described('gateway'),
      'management-api': described('management-api'),
    };
  }

  /** With so many processes of each app, of the release that is named for it. */
  static async start(
    product: OwnProduct,
    oldRoot: string,
    releases: Readonly<Record<App, Release>>,
    size = 1,
  ): Promise<MixedFleet> {
    const [management, gateway] = await Promise.all([startBalancer(), startBalancer()]);
    const balancers = { 'management-api': management, gateway };
    const fleet = new MixedFleet(product, { old: oldRoot, new: here }, balancers, size);
    const own = exchangeOrder.map((app) => product.pids[app] ?? 0);
    for (const pid of own) process.kill(pid, 'SIGTERM');
    await until(() => Promise.resolve(!own.some(isAlive)), 30_000);
    for (const app of exchangeOrder) {
      await Promise.all(fleet.#sockets.map((_, nth) => fleet.#add(app, releases[app], nth)));
    }
    return fleet;
  }

  get url(): string {
    return this.balancers.gateway.url;
  }

  opsUrlsOf(app: App, release: Release): readonly string[] {
    return this.#of(app, release).map(({ opsUrl }) => opsUrl);
  }

  logsOf(app: App, release: Release): string {
    return this.#of(app, release)
      .flatMap(({ logs }) => logs)
      .join('');
  }

  /**
   * Exchanges the processes of an app, one at a time. The new one takes calls before the old one
   * ends, except of runners: those have an address, and the others have their runs meanwhile. A
   * gateway of 0.1.0 leaves a runner alone for up to two seconds after it is back.
   */
  async exchange(app: App, release: Release): Promise<void> {
    for (const [nth, member] of [...this.#members].filter((one) => one.app === app).entries()) {
      if (app === 'runner') await this.#retire(member);
      await this.#add(app, release, nth);
      if (app !== 'runner') await this.#retire(member);
      else if (this.#of('gateway', 'old').length > 0) await this.#untilRunnerIsKnown(nth);
    }
  }

  async end(): Promise<void> {
    await Promise.all([...this.#members].map((member) => this.#retire(member)));
    await Promise.all(Object.values(this.balancers).map((balancer) => balancer.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #of(app: App, release: Release): readonly Member[] {
    return [...this.#members].filter((one) => one.app === app && one.release === release);
  }

  async #untilRunnerIsKnown(nth: number): Promise<void> {
    const members = [...this.#members];
    // A process that is asked for its health connects to its runners.
    const health = [
      ...members.filter(({ app }) => app === 'gateway').map(({ url }) => url),
      ...members.filter(({ app }) => app === 'worker').map(({ opsUrl }) => opsUrl),
    ];
    await until(async () => {
      await Promise.all(health.map((url) => fetch(`${url}/health/ready`)));
      return connectionsTo(this.#sockets[nth] ?? '') === health.length;
    });
  }

  async #add(app: App, release: Release, nth: number): Promise<void> {
    const { port, opsPort, settings } = await placeBeside();
    const { command, env } = this.#described[app];
    const [node = '', ...args] = command;
    const root = this.roots[release];
    const socket = this.#sockets[nth] ?? '';
    const workFolder = `${socket}-work`;
    if (app === 'runner') mkdirSync(workFolder, { recursive: true, mode: 0o755 });
    const child = spawn(
      node,
      args.map((arg) => arg.replace(here, root)),
      {
        cwd: root,
        env: {
          ...env,
          ...settings,
          MANAGEMENT_URL: this.balancers['management-api'].url,
          RUNNER_URLS: this.#sockets.map((path) => `unix:${path}`).join(','),
          RUNNER_LISTEN: `unix:${socket}`,
          RUNNER_WORK_DIR: workFolder,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const logs: string[] = [];
    const keep = (chunk: Buffer): void => void logs.push(String(chunk));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const url = `http://127.0.0.1:${port}`;
    const member = { app, release, url, opsUrl: `http://127.0.0.1:${opsPort}`, child, logs };
    this.#members.add(member);
    await until(async () => {
      if (child.exitCode !== null) throw new Error('it has ended');
      return (await fetch(`${member.opsUrl}/health/ready`)).status === 200;
    }, 60_000).catch((error: unknown) => {
      throw new Error(`${release} ${app} does not start: ${logs.join('')}`, { cause: error });
    });
    if (app === 'gateway' || app === 'management-api') this.balancers[app].add(url);
  }

  async #retire(member: Member): Promise<void> {
    const { app, url, child } = member;
    this.#members.delete(member);
    if (app === 'gateway' || app === 'management-api') await this.balancers[app].remove(url);
    if (child.exitCode !== null) throw new Error(`${app} had ended: ${member.logs.join('')}`);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = (await exited) as [number | null];
    if (code !== 0) throw new Error(`${app} ended with ${code}: ${member.logs.join('')}`);
  }
}

/** What `path` listens with has no part in a connection. */
function connectionsTo(path: string): number {
  const connected = '0001 03';
  const sockets = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return sockets.filter((line) => line.endsWith(` ${path}`) && line.includes(connected)).length;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
