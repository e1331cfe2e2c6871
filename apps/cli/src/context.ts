import { Api } from './api';
import { connectionOf, type Asked, type Connection } from './connection';
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
  /** Ends with the program. */
  readonly signal: AbortSignal;
  readonly asked: Asked;
  /** Where Glovebox is, and the keys for it. */
  connection(): Connection;
  /** Calls with the key that manages. */
  api(): Api;
  /** Calls with the key that uses tokens and runs reactors. */
  callerApi(): Api;
}

export function contextOf(
  { json = false, color, ...asked }: GlobalOptions,
  env: NodeJS.ProcessEnv,
  process: Pick<NodeJS.Process, 'cwd' | 'stdout' | 'stderr'>,
  signal: AbortSignal,
): Context {
  const { stdout, stderr } = process;
  let connection: Connection | undefined;
  const connect = (): Connection => (connection ??= connectionOf(asked, env));
  return {
    env,
    cwd: process.cwd(),
    terminal: new Terminal(stdout, stderr, { json, colour: color }, env),
    signal,
    asked,
    connection: connect,
    api: () => new Api(connect().url, connect().managementKey(), signal),
    callerApi: () => new Api(connect().url, connect().privateKey(), signal),
  };
}
