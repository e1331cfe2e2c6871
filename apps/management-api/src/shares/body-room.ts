import type { ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import { nextSlice } from '@glovebox/expressions';
import type { Reading } from '@glovebox/wire';
import { Shares, type Release } from '@glovebox/shares';
import { whileThere } from '../http/while-there';

/** Bytes of all bodies kept in memory, from their first byte to the answer. */
export const bufferedBytesMax = 256 * 1024 * 1024;
/** A larger body waits for its turn to be parsed, checked and stored. */
export const smallBodyBytesMax = 64 * 1024;
/** Larger bodies handled at once, of different tenants if several wait. */
const largeBodiesMax = 2;
const largeBodyWaitMs = 10_000;
/** Waiting bodies of one tenant. */
const waitingBodiesMax = 50;
const bodyIdleMs = 30_000;
const bodyWholeMs = 300_000;

/** The places that the bodies of all tenants share in this process. */
export interface BodyShares {
  readonly bufferedBytes: Shares;
  readonly largeBodies: Shares;
}

export function createBodyShares(): BodyShares {
  return {
    bufferedBytes: new Shares({ places: bufferedBytesMax }),
    largeBodies: new Shares({
      places: largeBodiesMax,
      waitMs: largeBodyWaitMs,
      waitingMax: waitingBodiesMax,
    }),
  };
}

/** The share of one body. */
export class BodyRoom implements Reading {
  readonly idleMs = bodyIdleMs;
  readonly wholeMs = bodyWholeMs;
  readonly #releases: Release[] = [];

  constructor(
    private readonly shares: BodyShares,
    private readonly tenantId: string,
  ) {}

  readonly keep = (bytes: number): void => {
    this.#releases.push(this.shares.bufferedBytes.takeNow(this.tenantId, bytes));
  };

  /** Waits for the turn of a large body, and then lets the event loop serve its sockets once. */
  async takeTurn(context: ExecutionContext): Promise<void> {
    const response = context.switchToHttp().getResponse<Response>();
    const release = await whileThere(response, (signal) =>
      this.shares.largeBodies.take(this.tenantId, { signal }),
    );
    this.#releases.push(release);
    await nextSlice();
  }

  leave(): void {
    for (const release of this.#releases.splice(0)) release();
  }
}
