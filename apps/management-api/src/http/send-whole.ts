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
  json: Buffer,
  tenantId: string,
  { bufferedBytes, pace }: { readonly bufferedBytes: Shares; readonly pace: Pace },
): Promise<void> {
  response.type('json');
  if (json.length <= smallAnswerBytesMax) return void response.send(json);
  const isReading = response.req.method === 'GET' || response.req.method === 'HEAD';
  if (!isReading && !bufferedBytes.hasRoom(tenantId, json.length)) return void response.destroy();
  const release = bufferedBytes.takeNow(tenantId, json.length);
  try {
    response.setHeader('content-length', json.length);
    const answer = new PacedAnswer(response, pace);
    await answer.write(json);
    await answer.end();
  } finally {
    release();
  }
}
