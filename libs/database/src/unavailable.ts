import { Problem } from '@glovebox/problems';

/** SQLSTATEs of a server that cannot serve right now: connection faults, shutdown, too many, too slow. */
const sqlStates = /^(?:08...|57P0[1-5]|53[0-3]00|57014)$/;
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** The driver's own faults carry no code. */
const driverMessages =
  /^(?:Connection terminated|timeout exceeded|Query read timeout|Client has enc)/;

/** A Postgres that is away is not our error but a 503; every other error stays what it is. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Problem) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const away = sqlStates.test(code) || socketCodes.has(code) || driverMessages.test(error.message);
  return away ? new Problem('service_unavailable', { retryAfterSeconds: 1, cause: error }) : error;
}
