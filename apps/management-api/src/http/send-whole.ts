import type { Response } from 'express';
import type { Shares } from '@glovebox/shares';
import { PacedAnswer, type Pace } from '@glovebox/wire';
import { smallAnswerBytesMax } from '../shares/page-shares';

/**
 * Sends an answer that is in memory as a whole. A large one is counted until its caller has taken
 * it. Without room a reading is refused; where something was changed, the connection ends instead,
 * because 429 says that nothing was done.
 */
export async function sendWhole(
  response: Response,
  json: string,
  tenantId: string,
  { bufferedBytes, pace }: { readonly bufferedBytes: Shares; readonly pace: Pace },
): Promise<void> {
  response.type('json');
  const bytes = Buffer.from(json);
  if (bytes.length <= smallAnswerBytesMax) return void response.send(bytes);
  const isReading = response.req.method === 'GET' || response.req.method === 'HEAD';
  if (!isReading && !bufferedBytes.hasRoom(tenantId, bytes.length)) return void response.destroy();
  const release = bufferedBytes.takeNow(tenantId, bytes.length);
  try {
    response.setHeader('content-length', bytes.length);
    const answer = new PacedAnswer(response, pace);
    await answer.write(bytes);
    await answer.end();
  } finally {
    release();
  }
}
