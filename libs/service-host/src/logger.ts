import { pino } from 'pino';
import { Problem } from '@glovebox/problems';
import { StoreNotTrusted } from '@glovebox/store-urls';

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
}

/** A second line of defence: no data is passed to the logger in the first place. */
const redacted = ['key', 'apiKey', 'password', 'secret', 'token', 'data', 'args', 'configuration'];

/** Writes JSON lines to standard output. */
export function createLogger(options: { app: string; level: string }): Logger {
  return pino({
    level: options.level,
    base: { app: options.app, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: redacted.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  });
}

/**
 * The parts of an error that may be logged: type, code and stack. Its message may not: drivers and
 * parsers put the offending value there.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code } = error as { code?: unknown };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    // In our words.
    ...(error instanceof StoreNotTrusted ? { reason: error.reason } : {}),
    stack: frames.slice(0, 12).map((line) => line.trim()),
    ...(error instanceof Problem && error.cause !== undefined
      ? { cause: describeError(error.cause) }
      : {}),
  };
}
