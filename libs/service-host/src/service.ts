import { describeError, type Logger } from './logger';

export interface Service {
  /** Drains in the order that the app has written down; resolves when nothing is left. */
  stop(): Promise<void>;
}

/** Runs an app: start, wait for a signal, stop within the limit. Never returns a half-started process. */
export async function runService(options: {
  logger: Logger;
  start: () => Promise<Service>;
  stopTimeoutMs?: number;
}): Promise<void> {
  const { logger } = options;
  const die = (error: unknown, message: string): void => {
    logger.fatal({ error: describeError(error) }, message);
    process.exit(1);
  };
  process.on('uncaughtException', (error) => die(error, 'an error was not handled'));
  process.on('unhandledRejection', (error) => die(error, 'a rejection was not handled'));

  let service: Service;
  try {
    service = await options.start();
  } catch (error) {
    return die(error, `could not start: ${startFailure(error)}`);
  }

  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    const limit = setTimeout(() => {
      logger.error({}, 'still busy at the end of the stop limit');
      process.exit(1);
    }, options.stopTimeoutMs ?? 220_000);
    limit.unref();
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => die(error, 'could not stop cleanly'),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Before the first request there is no customer data in an error: the operator may read it. */
function startFailure(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
