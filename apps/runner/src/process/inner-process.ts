import type { ChildProcess } from 'node:child_process';
import { pidInside } from './launcher';

/** The process inside a sandbox. With bubblewrap it is not the one that the runner has started. */
export class InnerProcess {
  pid: number | undefined;
  /** Resolves when the pid is known, or known to be unknown. */
  readonly named: Promise<void>;
  private isToEnd = false;

  constructor(private readonly child: ChildProcess) {
    this.named = pidInside(child).then((pid) => {
      this.pid = pid ?? child.pid;
      if (this.isToEnd) this.kill();
    });
  }

  /** Waits until its pid is known: without its starter it might wait for that one for ever. */
  kill(): void {
    this.isToEnd = true;
    if (this.child.exitCode === null && this.child.signalCode === null) this.signal('SIGKILL');
  }

  /** False if the pid is not known. */
  signal(signal: NodeJS.Signals): boolean {
    if (this.pid === undefined) return false;
    try {
      process.kill(this.pid, signal);
    } catch {
      // It ended by itself in the meantime.
    }
    return true;
  }
}
