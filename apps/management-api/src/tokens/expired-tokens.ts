import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { describeError } from '@glovebox/service-host';
import { Context, type ManagementContext } from '../context';

const everyMs = 10 * 60_000;
const rowsPerStatement = 5_000;

/**
 * Clears expired tokens away, which nobody can use any more: within an hour of their end, whichever
 * instance is still there. A part at a time, so that no lock is held for long.
 */
@Injectable()
export class ExpiredTokens implements OnModuleInit, OnModuleDestroy {
  #timer: NodeJS.Timeout | undefined;
  #sweeping = Promise.resolve();
  #stopped = false;

  constructor(@Context() private readonly ctx: ManagementContext) {}

  onModuleInit(): void {
    this.#timer = setInterval(() => void this.sweep(), everyMs).unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  sweep(): Promise<void> {
    this.#sweeping = this.#sweeping
      .then(() => this.#deleteAll())
      .catch((error: unknown) => {
        this.ctx.logger.warn({ error: describeError(error) }, 'expired tokens were not deleted');
      });
    return this.#sweeping;
  }

  async #deleteAll(): Promise<void> {
    let deleted = rowsPerStatement;
    while (deleted === rowsPerStatement && !this.#stopped) {
      const [row] = await this.ctx.dataSource.query<{ deleted: string }[]>(
        'SELECT delete_expired_tokens($1) AS deleted',
        [rowsPerStatement],
      );
      deleted = Number(row?.deleted ?? 0);
    }
  }
}
