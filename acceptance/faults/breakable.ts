import { startRedis, startTcpRelay } from '@glovebox/testing';
import type { PrivateRedis, TcpRelay } from '@glovebox/testing';
import { Redis } from 'ioredis';
import { AppProcess, placeBeside } from '../processes';
import { call, until, type Product } from '../product';

/** A Redis of one test, which may lose it and bring it back at its old port. */
class OwnRedis {
  private constructor(private server: PrivateRedis) {}

  static async start(): Promise<OwnRedis> {
    return new OwnRedis(await startRedis());
  }

  get url(): string {
    return this.server.url;
  }

  /** Starts it empty. */
  async start(): Promise<void> {
    this.server = await startRedis({ port: this.server.port });
  }

  kill(): Promise<void> {
    return this.server.kill();
  }

  async flush(): Promise<void> {
    const redis = new Redis(this.url);
    await redis.flushall();
    redis.disconnect();
  }
}

/**
 * A management API and three gateways beside the running product, of the same build and with the
 * same tenants, but with a Redis of their own and with breakable connections to the stores.
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
    const redis = await OwnRedis.start();
    const toRedis = await startTcpRelay(redis.url);
    const self = new Breakable(await startTcpRelay(product.databaseUrl), toRedis, redis);
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
    await Promise.all([this.postgres.close(), this.toRedis.close()]);
  }

  async #startApp(product: Product, name: string, env: Record<string, string>): Promise<string> {
    const { port, opsPort, settings } = await placeBeside();
    const app = new AppProcess(product.pids[name]).another((own) => ({
      ...own,
      ...env,
      ...settings,
      DATABASE_URL: this.postgres.through(own.DATABASE_URL ?? ''),
      REDIS_URL: this.toRedis.url,
    }));
    this.#apps.push(app);
    const ready = `http://127.0.0.1:${opsPort}/health/ready`;
    await until(async () => (await call('GET', ready)).status === 200, 30_000);
    return `http://127.0.0.1:${port}`;
  }
}
