/** The log of one run: what its code writes with `console`. */
export const logLinesMax = 200;
export const logBytesMax = 64 * 1024;

/** The last line of a log that was cut. It takes the place of the last line that was kept. */
export const linesDropped = 'Further lines were dropped.';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
