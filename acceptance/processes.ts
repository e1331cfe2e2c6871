import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { freePort } from '@glovebox/testing';

/** Reads the command line and the environment of a process. */
export function describeProcess(pid: number): { command: string[]; env: Record<string, string> } {
  const parts = (name: string): string[] =>
    readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0').filter(Boolean);
  const env = parts('environ').map((line) => [
    line.slice(0, line.indexOf('=')),
    line.slice(line.indexOf('=') + 1),
  ]);
  return { command: parts('cmdline'), env: Object.fromEntries(env) as Record<string, string> };
}

/** Where one more process of an app listens, beside those whose other settings it has. */
export async function placeBeside(): Promise<{
  readonly port: number;
  readonly opsPort: number;
  readonly settings: Readonly<Record<string, string>>;
}> {
  const [port, opsPort] = [await freePort(), await freePort()];
  const settings = {
    PORT: String(port),
    OPS_PORT: String(opsPort),
    CONSOLE_PORT: '0',
    FORWARD_PORT: '0',
  };
  return { port, opsPort, settings };
}

/** An app of the running product that a test may kill and restart as it was. */
export class AppProcess {
  readonly #command: string[];
  readonly #env: Record<string, string>;
  #pid: number;
  #child: ChildProcess | undefined;

  constructor(pid: number | undefined) {
    if (pid === undefined) throw new Error('the app has no process');
    this.#pid = pid;
    ({ command: this.#command, env: this.#env } = describeProcess(pid));
  }

  /** Starts one more process of this app, with other settings. */
  another(settings: (own: Readonly<Record<string, string>>) => Record<string, string>): AppProcess {
    const [command = '', ...args] = this.#command;
    const child = spawn(command, args, { env: settings(this.#env), stdio: 'ignore' });
    const another = new AppProcess(child.pid);
    another.#child = child;
    return another;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.#pid, signal);
  }

  /** Starts the app again. A second process beside the first needs other ports. */
  restart(changes: Record<string, string> = {}): void {
    const [command = '', ...args] = this.#command;
    this.#child = spawn(command, args, { env: { ...this.#env, ...changes }, stdio: 'ignore' });
    if (this.#child.pid === undefined) throw new Error('the app did not start again');
    this.#pid = this.#child.pid;
  }

  /** Resolves with the exit code when it has ended. */
  async exit(): Promise<number | null> {
    if (!this.#child) throw new Error('only the end of what was restarted can be waited for');
    const { exitCode } = this.#child;
    return exitCode ?? ((await once(this.#child, 'exit')) as [number | null])[0];
  }

  /** Ends a restarted process, which only the test knows of. */
  async end(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }
}
