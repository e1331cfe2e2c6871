/** What the exit code of a command says. `glovebox --help` and docs/cli.md list them. */
export const exitCodes = {
  /** What was run failed: a test, code, a check of the doctor. */
  failed: 1,
  /** The command, or a file, is written wrongly. Nothing was sent. */
  usage: 2,
  /** No key, a wrong one, or one that may not do this. */
  refused: 3,
  /** Glovebox refused the call for another reason. */
  rejected: 4,
  /** No answer came. */
  unreachable: 5,
  /** Changed by somebody else meanwhile. Nothing was written. */
  conflict: 6,
  interrupted: 130,
} as const;

export type Exit = keyof typeof exitCodes;

/** An end that is explained to the person at the terminal, without a stack. */
export class Failure extends Error {
  constructor(
    readonly exit: Exit,
    message: string,
    /** How to mend it. */
    readonly hint?: string,
    /** What programs may want to read with `--json`. */
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

export const usage = (message: string, hint?: string): Failure =>
  new Failure('usage', message, hint);

/** The code of an error of the file system or the network. */
export const codeOf = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException | undefined)?.code;
