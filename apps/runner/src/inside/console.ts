import { format, inspect } from 'node:util';

export const logLinesMax = 200;
export const logBytesMax = 64 * 1024;

const levels: Readonly<Record<string, string>> = {
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
  debug: 'debug',
  trace: 'debug',
};

/** Lines belong to the run that wrote them. `write` drops lines above its share. */
export function createConsole(write: (level: string, text: string) => void): Console {
  const nothing = (): void => undefined;
  const methods: Record<string, (...values: unknown[]) => void> = {
    dir: (value) => write('info', inspect(value)),
    table: (value) => write('info', inspect(value)),
    assert: (condition, ...values) => {
      if (!condition) write('error', format('Assertion failed', ...values));
    },
  };
  for (const [method, level] of Object.entries(levels)) {
    methods[method] = (...values) => write(level, format(...values));
  }
  // Every other method of the real console does nothing.
  return new Proxy(methods, {
    get: (known, name) => known[String(name)] ?? nothing,
  }) as unknown as Console;
}
