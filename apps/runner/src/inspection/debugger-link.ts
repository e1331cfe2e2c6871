import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import type { Inspection, UnreadOutcome } from '@glovebox/sandbox';
import type { RunnerContext } from '../context';
import type { PoolRun } from '../pool/pool';
import type { SandboxProcess } from '../process/sandbox-process';

const helloTimeoutMs = 2_000;
const helloCharsMax = 1_024;
const lineCharsMax = 8 * 1024 * 1024;
/** What a debugger may leave unread before its run ends. */
const unreadBytesMax = 16 * 1024 * 1024;
const readyLimitMs = 10_000;

/** What the command line of an author says, a line of JSON each. */
interface Said {
  /** The first line. It is the secret that an order has to name. */
  readonly session?: string;
  /** A message of the protocol of DevTools, as text. */
  readonly message?: string;
  /** The code is loaded now. */
  readonly start?: boolean;
}

/** The connection of one command line, for all the runs that name its session. */
export class DebuggerLink {
  session: string | undefined;
  private current: { readonly sandbox: SandboxProcess; start(): void } | undefined;
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';

  constructor(
    private readonly socket: Socket,
    private readonly startSandbox: RunnerContext['startSandbox'],
  ) {
    const timer = setTimeout(() => socket.destroy(), helloTimeoutMs);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      try {
        this.onChunk(chunk);
        if (this.session !== undefined) clearTimeout(timer);
      } catch {
        socket.destroy();
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      this.end();
    });
  }

  get isTaken(): boolean {
    return this.current !== undefined;
  }

  /** Ends the run under way as well. */
  end(): void {
    this.socket.destroy();
    this.current?.sandbox.kill('its debugger is gone');
  }

  /** The whole story of an inspected run: its code is loaded once the debugger says so. */
  async inspect(
    { order, fetchCode, hooks, signal }: PoolRun,
    side: Inspection['side'],
  ): Promise<UnreadOutcome> {
    const until = performance.now() + order.timeoutMs;
    const sandbox = this.startSandbox(order.runtime, (message) =>
      this.say({ message: message.toString('utf8') }),
    );
    const started = new Promise<void>((start) => (this.current = { sandbox, start }));
    const cancel = (): void => sandbox.kill('cancelled');
    const slow = setTimeout(() => sandbox.kill('did not start'), readyLimitMs);
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      sandbox.kill('no debugger has started it');
    }, order.timeoutMs);
    signal.addEventListener('abort', cancel);
    try {
      if (signal.aborted) cancel();
      await sandbox.ready;
      clearTimeout(slow);
      this.say({ begun: { side, runtime: order.runtime } });
      await Promise.race([started, sandbox.exited]);
      if (isLate) return { kind: 'timed_out' };
      clearTimeout(late);
      const timeoutMs = Math.max(1, Math.round(until - performance.now()));
      return await sandbox.execute({ ...order, timeoutMs }, await fetchCode(), hooks);
    } catch (error) {
      const reason = signal.aborted ? 'cancelled' : (error as Error).message;
      return { kind: 'died', reason };
    } finally {
      clearTimeout(slow);
      clearTimeout(late);
      signal.removeEventListener('abort', cancel);
      this.current = undefined;
      sandbox.kill('its run is over');
      this.say({ ended: true });
    }
  }

  private say(line: object): void {
    if (this.socket.destroyed) return;
    this.socket.write(`${JSON.stringify(line)}\n`);
    if (this.socket.writableLength > unreadBytesMax) this.end();
  }

  private onChunk(chunk: Buffer): void {
    const [first = '', ...others] = this.decoder.write(chunk).split('\n');
    this.rest += first;
    const most = this.session === undefined ? helloCharsMax : lineCharsMax;
    if (this.rest.length > most) throw new Error('the line is too long');
    for (const next of others) {
      this.onLine(JSON.parse(this.rest) as Said);
      this.rest = next;
    }
  }

  private onLine({ session, message, start }: Said): void {
    if (this.session === undefined) {
      if (typeof session !== 'string' || session.length < 32) throw new Error('no session');
      this.session = session;
      return this.say({ ready: true });
    }
    if (start === true) this.current?.start();
    if (typeof message === 'string') this.current?.sandbox.inspect(Buffer.from(message));
  }
}
