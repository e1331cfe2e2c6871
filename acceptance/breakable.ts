import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { TcpRelay } from './tcp-relay';
import { AppProcess } from './processes';
import { call, until, type Product } from './product';

/** A Redis that nobody else uses. */
class OwnRedis {
  #child: ChildProcess | undefined;

  constructor(readonly port: number) {}

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** With nothing in it. */
  async start(): Promise<void> {
    const { command, ...options } = JSON.parse(process.env.TEST_REDIS_SERVER ?? '{}') as {
      command: string;
    };
    const settings = ['--bind', '127.0.0.1', '--port', `${this.port}`, '--save', ''];
    this.#child = spawn(command, settings, { ...options, cwd: '/', stdio: 'ignore' });
    const redis = new Redis(this.url, { retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    await redis.ping();
    redis.disconnect();
  }

  async kill(): Promise<void> {
    if (!this.#child) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
    this.#child = undefined;
  }

  async flush(): Promise<void> {
    const redis = new Redis(this.url);
    await redis.flushall();
    redis.disconnect();
  }
}

/**
 * A management API and three gateways beside those of the running product, of the same build and with
 * the same tenants, but on a Redis of their own and on lines to the stores that a test may break.
 */
export class Breakable {
  readonly gateways: string[] = [];
  #apps: AppProcess[] = [];

  private constructor(
    readonly postgres: TcpRelay,
    readonly toRedis: TcpRelay,
    readonly redis: OwnRedis,
  ) {}

  static async start(product: Product): Promise<Breakable> {
    const redis = new OwnRedis(await freePort());
    await redis.start();
    const toRedis = await new TcpRelay(redis.url).start();
    const self = new Breakable(await new TcpRelay(product.databaseUrl).start(), toRedis, redis);
    const managementUrl = await self.#startApp(product, 'management-api', {});
    for (let n = 0; n < 3; n += 1) {
      self.gateways.push(
        await self.#startApp(product, 'gateway', { MANAGEMENT_URL: managementUrl }),
      );
    }
    return self;
  }

  async close(): Promise<void> {
    await this.postgres.restore();
    await this.toRedis.restore();
    await Promise.all(this.#apps.map((app) => app.end()));
    await this.redis.kill();
    await Promise.all([this.postgres.cut(), this.toRedis.cut()]);
  }

  async #startApp(product: Product, name: string, env: Record<string, string>): Promise<string> {
    const [port, opsPort] = [await freePort(), await freePort()];
    const app = new AppProcess(product.pids[name]).another((own) => ({
      ...own,
      ...env,
      PORT: String(port),
      OPS_PORT: String(opsPort),
      DATABASE_URL: this.postgres.through(own.DATABASE_URL ?? ''),
      REDIS_URL: this.toRedis.through(this.redis.url),
    }));
    this.#apps.push(app);
    const ready = `http://127.0.0.1:${opsPort}/health/ready`;
    await until(async () => (await call('GET', ready)).status === 200, 30_000);
    return `http://127.0.0.1:${port}`;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
