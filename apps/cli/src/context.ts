import { Glovebox } from '@glovebox/client';
import { connectionOf, type Asked, type Connection } from './connection';
import { failureOf } from './failure-of-call';
import type { Interruptions } from './interruptions';
import { Terminal } from './terminal';

/** The options that each command has. */
export interface GlobalOptions extends Asked {
  readonly json?: boolean;
  /** False with `--no-color`. */
  readonly color: boolean;
}

/** What a command may need. */
export interface Context {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly terminal: Terminal;
  readonly interruptions: Interruptions;
  /** That of the interruptions. */
  readonly signal: AbortSignal;
  readonly asked: Asked;
  /** Where Glovebox is, and the keys for it. */
  connection(): Connection;
  /** An error for a person at the terminal, where it is none of the program itself. */
  explained(error: unknown): unknown;
  /** Calls with the key that manages. They end with the program, or by another signal. */
  api(signal?: AbortSignal, fetch?: typeof globalThis.fetch): Glovebox;
  /** Calls with the key that uses tokens and runs reactors. */
  callerApi(): Glovebox;
}

const retries = 3;
/** Of a call that deploys: it may take 25 s, and is repeated as any other. */
export const deployingMs = 180_000;

export const callsWith = (
  key: string,
  url: string,
  signal: AbortSignal,
  fetch = globalThis.fetch,
): Glovebox => new Glovebox({ url, key, signal, retries, fetch });

export function contextOf(
  { json = false, color, ...asked }: GlobalOptions,
  env: NodeJS.ProcessEnv,
  process: Pick<NodeJS.Process, 'cwd' | 'stdout' | 'stderr'>,
  interruptions: Interruptions,
): Context {
  const { stdout, stderr } = process;
  const { signal } = interruptions;
  let connection: Connection | undefined;
  const connect = (): Connection => (connection ??= connectionOf(asked, env));
  return {
    env,
    cwd: process.cwd(),
    terminal: new Terminal(stdout, stderr, { json, colour: color }, env),
    interruptions,
    signal,
    asked,
    connection: connect,
    explained: (error) => failureOf(error, () => connect().url, signal),
    api: (until = signal, fetch) =>
      callsWith(connect().managementKey(), connect().managementUrl, until, fetch),
    callerApi: () => callsWith(connect().privateKey(), connect().url, signal),
  };
}
