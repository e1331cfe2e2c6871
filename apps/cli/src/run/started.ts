import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { codeOf, Failure } from '../failure';
import type { Interruption } from '../interruptions';

/** How long a command has after a second SIGTERM. */
const killedAfterMs = 5_000;

/** A command that was started, at the terminal of this program. */
export class Started {
  readonly #child;
  /** The exit code, as a shell tells it. */
  readonly ended: Promise<number>;
  #isTold = false;
  #killing: NodeJS.Timeout | undefined;

  constructor(
    [program = '', ...args]: readonly string[],
    env: NodeJS.ProcessEnv,
    private readonly settings = { killedAfterMs, isAtTerminal },
  ) {
    const child = spawn(program, args, { stdio: 'inherit', env });
    this.#child = child;
    this.ended = new Promise<number>((done, fail) => {
      child.once('error', (error) => {
        const why = codeOf(error) === 'ENOENT' ? 'it was not found' : error.message;
        fail(new Failure('usage', `"${program}" does not start: ${why}.`));
      });
      child.once('exit', (code, by) => done(code ?? 128 + (by ? constants.signals[by] : 0)));
    }).finally(() => clearTimeout(this.#killing));
  }

  /** Hands on what asks this program to end. */
  pass(name: Interruption): void {
    // The terminal has sent it to the command, too. A second one might end what the first is handled by.
    if (name === 'SIGINT' && this.settings.isAtTerminal()) return;
    if (name === 'SIGTERM' && this.#isTold) {
      this.#killing ??= setTimeout(() => this.#child.kill('SIGKILL'), this.settings.killedAfterMs);
    }
    this.#isTold ||= name === 'SIGTERM';
    this.#child.kill(name);
  }
}

/** Whether Ctrl-C can come from a terminal, which sends it to all programs in the foreground. */
function isAtTerminal(): boolean {
  if (process.platform === 'win32') return true;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
