import type { Response } from 'express';
import type { Shares } from '@glovebox/shares';
import type { Vault } from '@glovebox/vault';
import { PacedAnswer, type Pace } from '@glovebox/wire';
import { whileThere } from '../http/while-there';
import { requestPageBytesMax, smallAnswerBytesMax } from '../shares/page-shares';
import type { Page } from './page';

/**
 * Sends a small page at once. A larger one takes its share of memory first, and is read as fast as
 * its caller reads. A fault before the first batch is answered. A later one ends the connection, so
 * that nobody takes half a page for a whole one.
 */
export async function sendPage(
  response: Response,
  { pagination, rows, about }: Page,
  tenantId: string,
  {
    pageBytes,
    vault,
    pace,
  }: { readonly pageBytes: Shares; readonly vault: Vault; readonly pace: Pace },
): Promise<void> {
  response.type('json');
  const members = JSON.stringify({ ...about, pagination });
  const head = Buffer.from(`${members.slice(0, -1)},"data":[`);
  const small = await rows.whenSmall();
  const whole = small && Buffer.concat([head, ...separated(small), tail]);
  if (whole && whole.length <= smallAnswerBytesMax) return void response.send(whole);
  const release = await whileThere(response, (signal) =>
    pageBytes.take(tenantId, { places: requestPageBytesMax, signal }),
  );
  try {
    const answer = new PacedAnswer(response, pace);
    if (whole) await answer.write(whole);
    else await sendBatches(answer);
    await answer.end();
  } finally {
    release();
  }

  /** Reads each batch in a place for what takes long, and writes it without one. */
  async function sendBatches(answer: PacedAnswer): Promise<void> {
    const batches = rows.inBatches();
    const next = () => vault.largeOpenings.hold(tenantId, () => batches.next());
    let before = head;
    for (let step = await next(); !step.done; step = await next()) {
      if (step.value.length === 0) continue;
      await answer.write(Buffer.concat([before, ...separated(step.value)]));
      before = comma;
    }
    await answer.write(before === head ? Buffer.concat([head, tail]) : tail);
  }
}

const comma = Buffer.from(',');
const tail = Buffer.from(']}');

const separated = (rows: readonly Buffer[]): Buffer[] =>
  rows.flatMap((row, at) => (at === 0 ? [row] : [comma, row]));
