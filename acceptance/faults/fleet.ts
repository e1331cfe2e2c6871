import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { startBalancer, type Balancer } from './balancer';
import { describeProcess, placeBeside } from '../processes';
import type { Product } from '../product';

type Started = ReturnType<typeof describeProcess>;

type App = 'management-api' | 'gateway' | 'worker';

interface Instance {
  readonly app: App;
  readonly url: string;
  readonly child: ChildProcess;
}

const apps: readonly App[] = ['management-api', 'gateway', 'worker'];

/** Two processes of each app with a key ring, replaced in turn as in a rolling restart. */
export class Fleet {
  #instances: Instance[] = [];

  private constructor(
    private readonly started: Readonly<Record<App, Started>>,
    private readonly balancers: Readonly<Record<'management-api' | 'gateway', Balancer>>,
  ) {}

  /** Replaces the processes of the product, which end. */
  static async replace({ pids }: Product, keyRing: string): Promise<Fleet> {
    const [management, gateway] = await Promise.all([startBalancer(), startBalancer()]);
    const pidOf = (app: App): number => {
      const pid = pids[app];
      if (pid === undefined) throw new Error(`no process id of ${app}`);
      return pid;
    };
    const started = {
      'management-api': describeProcess(pidOf('management-api')),
      gateway: describeProcess(pidOf('gateway')),
      worker: describeProcess(pidOf('worker')),
    };
    const fleet = new Fleet(started, { 'management-api': management, gateway });
    for (let n = 0; n < 2; n += 1) await fleet.#addOneOfEach(keyRing);
    // They do not have the new keys.
    for (const app of apps) process.kill(pidOf(app), 'SIGTERM');
    return fleet;
  }

  get url(): string {
    return this.balancers.gateway.url;
  }

  /**
   * Replaces one process of each app at a time. The new one takes calls before the old one ends.
   */
  async roll(keyRing: string): Promise<void> {
    const old = this.#instances;
    this.#instances = [];
    for (let n = 0; n < 2; n += 1) {
      await this.#addOneOfEach(keyRing);
      await Promise.all(apps.map((app) => this.#retire(old, app)));
    }
  }

  async end(): Promise<void> {
    const all = this.#instances;
    await Promise.all(all.map((instance) => this.#stop(instance)));
    await Promise.all(Object.values(this.balancers).map((balancer) => balancer.close()));
  }

  async #addOneOfEach(keyRing: string): Promise<void> {
    const added = await Promise.all(apps.map((app) => this.#start(app, keyRing)));
    for (const instance of added) {
      this.#instances.push(instance);
      if (instance.app !== 'worker') this.balancers[instance.app].add(instance.url);
    }
  }

  async #retire(old: readonly Instance[], app: App): Promise<void> {
    const instance = old.find((one) => one.app === app && one.child.exitCode === null);
    if (!instance) throw new Error(`no old ${app} is left`);
    await this.#stop(instance);
  }

  async #stop({ app, url, child }: Instance): Promise<void> {
    if (app !== 'worker') await this.balancers[app].remove(url);
    if (child.exitCode !== null) throw new Error(`${app} had ended with ${child.exitCode}`);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = (await exited) as [number | null];
    if (code !== 0) throw new Error(`${app} ended with ${code}`);
  }

  async #start(app: App, keyRing: string): Promise<Instance> {
    const { command, env } = this.started[app];
    const { port, opsPort, settings } = await placeBeside();
    const [file = '', ...args] = command;
    const child = spawn(file, args, {
      env: {
        ...env,
        KEY_RING: keyRing,
        ...settings,
        MANAGEMENT_URL: this.balancers['management-api'].url,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const said: string[] = [];
    child.stdout?.on('data', (chunk: Buffer) => said.splice(0, said.length - 1, String(chunk)));
    await ready(child, `http://127.0.0.1:${opsPort}/health/ready`).catch((error: unknown) => {
      throw new Error(`${app} did not start: ${said.join('')}`, { cause: error });
    });
    return { app, url: `http://127.0.0.1:${port}`, child };
  }
}

async function ready(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    const text = await answer?.text();
    if (answer?.status === 200) return;
    if (child.exitCode !== null) throw new Error(`${url}: ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`${url} is not ready: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
