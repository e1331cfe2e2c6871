import { Problem } from '@glovebox/problems';
import { trustFault } from '@glovebox/store-urls';
import { driverErrorOf } from './driver-error';

/** SQLSTATEs of a server that cannot serve now: connection faults, shutdown, full, too slow. */
const sqlState = /^(?:08...|53...|57014|57P0[1-5])$/;
const systemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** The driver's own errors have no code. */
const driverMessages =
  /^(?:Connection terminated|timeout e|Query read timeout|Client has encountered a c|Client was cl)/;

/** Answers 503 if Postgres is away. Every other error stays as it is. */
export function asUnavailable(error: unknown): unknown {
  return isAway(error)
    ? new Problem('service_unavailable', { retryAfterSeconds: 1, cause: error })
    : error;
}

/** True if Postgres ended the statement because it took too long. */
export const tookTooLong = (error: unknown): boolean =>
  driverErrorOf(error instanceof Problem ? error.cause : error).code === '57014';

function isAway(error: unknown): boolean {
  if (error instanceof Problem) return false;
  const { code, message } = driverErrorOf(error);
  if (trustFault('Postgres', { code, message })) return true;
  if (code !== undefined && (systemCodes.has(code) || sqlState.test(code))) return true;
  return message !== undefined && driverMessages.test(message);
}

/** 57P03: the server is starting or stopping. ENOTFOUND: its name is gone with it. */
const refusalCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', '57P03']);

/**
 * True if Postgres is known to be away: it says so itself, or its machine or the name service does.
 * Silence does not count: a Postgres that does not answer this process may answer another.
 */
export function refusesConnections(error: unknown): boolean {
  if (error instanceof Problem) return refusesConnections(error.cause);
  if (typeof error !== 'object' || error === null) return false;
  // A name with several addresses is away if each of them refuses.
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (Array.isArray(errors)) return errors.length > 0 && errors.every(refusesConnections);
  return typeof code === 'string' && refusalCodes.has(code);
}
