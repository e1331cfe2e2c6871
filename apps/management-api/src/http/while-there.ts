import type { Response } from 'express';
import { Problem } from '@glovebox/problems';

/** Gives the work a signal that aborts when the caller leaves. */
export async function whileThere<Result>(
  response: Response,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const left = new AbortController();
  const leave = (): void => left.abort(callerLeft());
  if (response.destroyed) leave();
  response.once('close', leave);
  try {
    return await work(left.signal);
  } finally {
    response.off('close', leave);
  }
}

const callerLeft = (): Problem =>
  new Problem('invalid_request', { detail: 'The caller left before its answer.' });
