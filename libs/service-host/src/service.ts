import { setTimeout as delay } from 'node:timers/promises';
import { callsMayTakeMs } from './close-server';
import { describeError, type Logger } from './logger';

export interface Service {
  /** How long it goes on as before once it has said that it is not ready: balancers need to see it. */
  readonly stopDelayMs?: number;
  /** Drains in the order that the app has written down; resolves when nothing is left. */
  stop(): Promise<void>;
}

/** What closing the stores may take behind the last call. */
const closingMs = 5_000;

/** Runs an app: start, wait for a signal, stop within the limit. Never returns a half-started process. */
export async function runService(options: {
  logger: Logger;
  /** The signal is aborted when the process has been told to end: readiness says no from then on. */
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
    // A terminal sends SIGINT to all, and its supervisor SIGTERM behind it: that is one wish.
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

/** Not ready, then for a while as before, then the app's own order. */
export async function stopService(service: Service, stopping: AbortController): Promise<void> {
  stopping.abort();
  await delay(service.stopDelayMs ?? 0);
  await service.stop();
}

/** Before the first request there is no customer data in an error: the operator may read it. */
function startFailure(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
