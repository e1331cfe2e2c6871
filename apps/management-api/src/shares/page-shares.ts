import { Shares } from '@glovebox/shares';

/** Bytes of large pages in memory, of all tenants in this process. */
const pageBytesMax = 128 * 1024 * 1024;
/** The same for one tenant. */
const tenantPageBytesMax = 8 * 1024 * 1024;
/** The same for one page: the rows of a batch and what is made of them, or a single large row. */
export const requestPageBytesMax = 2 * 1024 * 1024;
/** An answer that is no larger is sent at once and takes no place. */
export const smallAnswerBytesMax = 128 * 1024;
/** Rows that are read at once. A larger row comes alone. */
export const batchBytesMax = 512 * 1024;
const pageWaitMs = 10_000;
/** Large pages of one tenant that wait. */
const waitingPagesMax = 100;

/** The bytes of large pages, from the first row that is read to the last one that is taken. */
export const createPageShares = (): Shares =>
  new Shares({
    places: pageBytesMax,
    ownerMax: tenantPageBytesMax,
    waitMs: pageWaitMs,
    waitingMax: waitingPagesMax,
  });
