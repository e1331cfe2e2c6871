import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { describeError } from '@glovebox/service-host';
import { Context, type ManagementContext } from '../context';

const everyMs = 10 * 60_000;
const rowsPerStatement = 5_000;

/**
 * Clears away what deleted tenants have left: tokens, runs and deliveries, which nothing opens any
 * more, and data keys of calls that were under way. A part at a time, so that no lock is held for
 * long; every instance looks every ten minutes, so that none has to finish what it began.
 */
@Injectable()
export class TenantRemains implements OnModuleInit, OnModuleDestroy {
  #timer: NodeJS.Timeout | undefined;
  #sweeping = Promise.resolve();
  #stopped = false;

  constructor(@Context() private readonly ctx: ManagementContext) {}

  onModuleInit(): void {
    this.#timer = setInterval(() => this.sweep(), everyMs).unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  /** Soon: nobody waits for it. */
  sweep(): void {
    this.#sweeping = this.#sweeping
      .then(() => this.#deleteAll())
      .catch((error: unknown) => {
        const what = 'remains of deleted tenants were not cleared away';
        this.ctx.logger.warn({ error: describeError(error) }, what);
      });
  }

  async #deleteAll(): Promise<void> {
    while (!this.#stopped) {
      const [row] = await this.ctx.dataSource.query<{ deleted: string }[]>(
        'SELECT delete_remains_of_tenants($1) AS deleted',
        [rowsPerStatement],
      );
      if (Number(row?.deleted ?? 0) === 0) return;
    }
  }
}
