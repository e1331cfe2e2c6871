import { Console } from 'node:console';
import { formatWithOptions } from 'node:util';
import { linesDropped, logBytesMax, logLinesMax, type LogLevel } from '@glovebox/sandbox';

type Write = (level: LogLevel, text: string) => void;
type Methods = Record<string, (...values: unknown[]) => void>;

const levels: Readonly<Record<string, LogLevel>> = {
  ...{ log: 'info', info: 'info', dir: 'info', dirxml: 'info', table: 'info' },
  ...{ group: 'info', groupCollapsed: 'info', groupEnd: 'info' },
  ...{ count: 'info', countReset: 'info', time: 'info', timeLog: 'info', timeEnd: 'info' },
  ...{ debug: 'debug', trace: 'debug', warn: 'warn', error: 'error', assert: 'error' },
  // These write nothing here, as in a Node without terminal and inspector.
  ...{ clear: 'info', profile: 'info', profileEnd: 'info', timeStamp: 'info' },
};

/** The console of all code in this process. A line belongs to the run that writes it. */
export function createConsole(ofRun: () => Methods | undefined): object {
  const methods: Methods = {};
  for (const name of Object.keys(levels))
    methods[name] = (...values) => ofRun()?.[name]?.(...values);
  return methods;
}

/** Node.js would cut strings at 10,000 characters. Those that are cut here fill the log. */
const inspectOptions = { colors: false, maxStringLength: logBytesMax };

/** Node's own console for one run, with counters, timers and indents that no other run sees. */
export function consoleOfRun(write: Write): Methods {
  let level: LogLevel | undefined;
  const lines = { write: (text: string) => write(level ?? 'info', inCode(text.slice(0, -1))) };
  const real = new Console({
    stdout: lines as unknown as NodeJS.WritableStream,
    ignoreErrors: false,
    inspectOptions,
  }) as unknown as Methods;
  for (const [name, ofMethod] of Object.entries(levels)) {
    const method = real[name];
    real[name] = (...values) => {
      // Some methods write by calling another one.
      const outer = level;
      level ??= ofMethod;
      try {
        method?.(...values);
      } finally {
        level = outer;
      }
    };
  }
  // The real one adds a stack, which shows the sandbox below the code.
  real['trace'] = (...values) =>
    real['debug']?.(`Trace: ${formatWithOptions(inspectOptions, ...values)}`);
  return real;
}

/** Frames of this script, and those of Node.js that follow one: what is called above it. */
const framesOfSandbox = new RegExp(
  `\\n *at [^\\n]*${__filename.replace(/[^\w/]/g, '\\$&')}:\\d+:\\d+\\)?` +
    '(?:\\n *at [^\\n]*node:[\\w/-]+:\\d+:\\d+\\)?)*',
  'g',
);

/** Stacks show neither the sandbox nor where the operator has it. */
const inCode = (text: string): string =>
  text.includes(__filename) ? text.replace(framesOfSandbox, '') : text;

/**
 * Passes on the lines of one run up to its share, and then one that says that there were more. The
 * runner counts again.
 */
export function withinShare(write: Write): Write {
  let linesLeft = logLinesMax;
  let bytesLeft = logBytesMax - Buffer.byteLength(linesDropped);
  let isFull = false;
  return (level, text) => {
    if (isFull) return;
    const kept = linesLeft === 0 ? '' : beginningOf(text, bytesLeft);
    isFull = linesLeft === 0 || kept.length < text.length;
    if (kept !== '' || !isFull) write(level, kept);
    if (isFull) return write('warn', linesDropped);
    linesLeft -= 1;
    bytesLeft -= Buffer.byteLength(kept);
  };
}

/** The whole characters that fit. */
function beginningOf(text: string, bytesMax: number): string {
  const cut = text.slice(0, bytesMax);
  const bytes = Buffer.from(cut);
  if (bytes.length <= bytesMax) return cut;
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
