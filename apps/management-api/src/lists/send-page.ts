import type { Response } from 'express';
import type { Shares } from '@glovebox/shares';
import { PacedAnswer, type Pace } from '@glovebox/wire';
import { whileThere } from '../http/while-there';
import { requestPageBytesMax } from '../shares/page-shares';
import type { Page } from './page';

/**
 * Sends a small page at once. A larger one takes its share of memory first, and is read as fast as
 * its caller reads. A fault before the first batch is answered. A later one ends the connection, so
 * that nobody takes half a page for a whole one.
 */
export async function sendPage(
  response: Response,
  { pagination, rows }: Page,
  tenantId: string,
  { pageBytes, pace }: { readonly pageBytes: Shares; readonly pace: Pace },
): Promise<void> {
  const head = Buffer.from(`{"pagination":${JSON.stringify(pagination)},"data":[`);
  response.type('json');
  const small = await rows.whenSmall();
  if (small) return void response.send(Buffer.concat([head, ...separated(small), tail]));
  const release = await whileThere(response, (signal) =>
    pageBytes.take(tenantId, { places: requestPageBytesMax, signal }),
  );
  try {
    const answer = new PacedAnswer(response, pace);
    let before = head;
    for await (const batch of rows.inBatches()) {
      if (batch.length === 0) continue;
      await answer.write(Buffer.concat([before, ...separated(batch)]));
      before = comma;
    }
    await answer.write(before === head ? Buffer.concat([head, tail]) : tail);
    await answer.end();
  } finally {
    release();
  }
}

const comma = Buffer.from(',');
const tail = Buffer.from(']}');

const separated = (rows: readonly Buffer[]): Buffer[] =>
  rows.flatMap((row, at) => (at === 0 ? [row] : [comma, row]));
