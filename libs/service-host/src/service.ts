import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '@glovebox/problems';
import { callsMayTakeMs } from './close-server';
import { describeError, type Logger } from './logger';

export interface Service {
  /** Time between "not ready" and the stop, for balancers to notice. */
  readonly stopDelayMs?: number;
  /** Drains in the order of the app; resolves when nothing is left. */
  stop(): Promise<void>;
}

/** Time for closing the stores after the last call. */
const closingMs = 5_000;

/**
 * Starts an app, waits for a signal and stops it within the limit. A failed start ends the process.
 */
export async function runService(options: {
  logger: Logger;
  /** The signal is aborted when the process is told to end; it is not ready from then on. */
  start: (stopping: AbortSignal) => Promise<Service>;
}): Promise<void> {
  const { logger } = options;
  const die = (error: unknown, message: string): void => {
    logger.fatal({ error: describeError(error) }, message);
    process.exit(1);
  };
  process.on('uncaughtException', (error) => die(error, 'an error was not handled'));
  process.on('unhandledRejection', (error) => die(error, 'a rejection was not handled'));

  const stopping = new AbortController();
  let service: Service;
  try {
    service = await options.start(stopping.signal);
  } catch (error) {
    return die(error, `could not start: ${startFailure(error)}`);
  }

  let told: string | undefined;
  const stop = (signal: string): void => {
    if (told === signal) {
      logger.warn({ signal }, 'told a second time: ends at once');
      process.exit(1);
    }
    // A terminal sends SIGINT to the whole group, and then the supervisor sends SIGTERM: one
    // request.
    if (told !== undefined) return;
    told = signal;
    logger.info({ signal }, 'stopping');
    const limit = setTimeout(
      () => {
        logger.error({}, 'still busy at the end of the stop limit');
        process.exit(1);
      },
      (service.stopDelayMs ?? 0) + callsMayTakeMs + closingMs,
    );
    limit.unref();
    stopService(service, stopping).then(
      () => process.exit(0),
      (error: unknown) => die(error, 'could not stop cleanly'),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Says "not ready", serves for the delay as before, then stops. */
export async function stopService(service: Service, stopping: AbortController): Promise<void> {
  stopping.abort();
  await delay(service.stopDelayMs ?? 0);
  await service.stop();
}

/** Before the first request no error holds customer data, so the operator may read its message. */
function startFailure(error: unknown): string {
  if (error instanceof Problem && error.cause instanceof Error) return error.cause.message;
  return error instanceof Error ? error.message : String(error);
}
