import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startDnsServer, type DnsServer } from '@glovebox/testing';
import { startBalancer, type Balancer } from './balancer';
import type { OwnProduct } from '../own-product';
import { describeProcess, placeBeside } from '../processes';
import { call, until } from '../product';

export const apps = ['management-api', 'gateway', 'worker', 'runner'] as const;
export type App = (typeof apps)[number];

/** Longer than a gateway needs to ask for the addresses of runners again. */
const runnerStopDelayMs = 12_000;

/** One process of an app, which the test may tell to end. */
export interface Replica {
  readonly app: App;
  readonly port: number;
  readonly opsUrl: string;
  /** A machine of its own, as far as one machine has several addresses. */
  readonly host: string;
  readonly child: ChildProcess;
  isReady: boolean;
}

/**
 * Processes of every app, found as in Kubernetes: runners by a name with the addresses of those that
 * are ready, management APIs behind a balancer, gateways by asking for readiness.
 */
export class Replicas {
  readonly all = new Set<Replica>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'glovebox-replicas-'));
  readonly #own: Readonly<Record<App, ReturnType<typeof describeProcess>>>;
  #started = 0;
  #isOver = false;

  private constructor(
    product: OwnProduct,
    private readonly dns: DnsServer,
    private readonly management: Balancer,
    private readonly runnerPort: number,
  ) {
    const describe = (app: App) => describeProcess(Number(product.pids[app]));
    this.#own = {
      'management-api': describe('management-api'),
      gateway: describe('gateway'),
      worker: describe('worker'),
      runner: describe('runner'),
    };
    writeFileSync(join(this.#folder, 'resolv.conf'), `nameserver ${dns.address}\n`);
  }

  /** Two of each take the place of the product's own processes. */
  static async replace(product: OwnProduct): Promise<Replicas> {
    const dns = await startDnsServer(({ name, type }) =>
      name === 'runner.test' && type === 'A'
        ? { addresses: replicas.ready('runner').map(({ host }) => host) }
        : 'no such name',
    );
    const replicas = new Replicas(product, dns, await startBalancer(), await freePort());
    for (const app of ['management-api', 'runner', 'gateway', 'worker'] as const) {
      await Promise.all([replicas.start(app), replicas.start(app)]);
    }
    for (const app of apps) process.kill(Number(product.pids[app]), 'SIGTERM');
    return replicas;
  }

  ready(app: App): readonly Replica[] {
    return [...this.all].filter((replica) => replica.app === app && replica.isReady);
  }

  async start(app: App): Promise<Replica> {
    const { command, env } = this.#own[app];
    const host = `127.0.0.${app === 'runner' ? 2 + (this.#started += 1) : 1}`;
    const { port, opsPort, settings } = await placeBeside();
    const ownNames = app === 'gateway' || app === 'worker' ? withNamesOf(this.#folder) : [];
    const [file = '', ...args] = [...ownNames, ...command];
    const child = spawn(file, args, {
      env: {
        ...env,
        ...settings,
        STOP_DELAY_MS: String(app === 'runner' ? runnerStopDelayMs : 1_000),
        MANAGEMENT_URL: this.management.url,
        RUNNER_URLS: `tcp://runner.test:${this.runnerPort}`,
        RUNNER_LISTEN: `tcp://${host}:${this.runnerPort}`,
        RUNNER_WORK_DIR: '',
        // Two runners share a machine that has little to spare.
        SANDBOX_POOL_MB: '3000',
        SANDBOX_QUEUE_WAIT_MS: '5000',
      },
      stdio: 'ignore',
    });
    const opsUrl = `http://127.0.0.1:${opsPort}`;
    const replica = { app, port, opsUrl, host, child, isReady: false };
    this.all.add(replica);
    void this.#watch(replica);
    await until(() => Promise.resolve(replica.isReady), 60_000);
    if (app === 'management-api') this.management.add(`http://127.0.0.1:${port}`);
    return replica;
  }

  /** Tells a process to end. Nobody is sent there from that moment on. */
  async retire(replica: Replica): Promise<number | null> {
    const ended = this.#end(replica);
    if (replica.app === 'management-api') {
      await this.management.remove(`http://127.0.0.1:${replica.port}`);
    }
    replica.child.kill('SIGTERM');
    return ended;
  }

  async close(): Promise<void> {
    this.#isOver = true;
    const ended = [...this.all].map((replica) => this.#end(replica));
    for (const { child } of this.all) child.kill('SIGKILL');
    await Promise.all(ended);
    await Promise.all([this.management.close(), this.dns.close()]);
    rmSync(this.#folder, { recursive: true });
  }

  async #end(replica: Replica): Promise<number | null> {
    const { exitCode, signalCode } = replica.child;
    if (exitCode !== null || signalCode !== null) return exitCode;
    const [code] = (await once(replica.child, 'exit')) as [number | null];
    this.all.delete(replica);
    return code;
  }

  /** Asks for readiness as a kubelet does, and believes the answer. */
  async #watch(replica: Replica): Promise<void> {
    while (!this.#isOver && replica.child.exitCode === null) {
      const answer = await call('GET', `${replica.opsUrl}/health/ready`).catch(() => undefined);
      replica.isReady = answer?.status === 200;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Gives a program another /etc/resolv.conf, which no other program sees. */
function withNamesOf(folder: string): readonly string[] {
  const mine = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const mount = '/bin/mount --bind "$0" /etc/resolv.conf && exec "$@"';
  return ['unshare', ...mine, '--mount', 'sh', '-c', mount, join(folder, 'resolv.conf')];
}
