import type { Frame, JsonObject } from '@glovebox/sandbox';
import { Allowance } from './allowance';

/**
 * The reasons for not reading from a sandbox: too many calls are open; it has spent more than its
 * allowance; it has no run. In the last two cases the kernel also stops it.
 */
type Pause = 'calls' | 'costs' | 'idle';

/**
 * The frames that one sandbox may cost the thread that serves all sandboxes. A run starts with the
 * burst and earns the rate per second. When both are spent, its channel waits.
 */
const framesPerSecond = 200;
const framesBurstMax = 400;
const frameBytesPerSecond = 8 * 1024 * 1024;
const frameBytesBurstMax = 8 * 1024 * 1024;
/**
 * A frame of a stream costs less than one that is parsed and answered. A connection costs more, and
 * so does a look-up, which asks a name server.
 */
const dataFrameCost = 1 / 8;
const dataByteCost = 1 / 8;
const streamEventCost = 1 / 4;
const openFrameCost = 4;
const lookUpFrameCost = 8;
/** Added to each pause for costs, so that pauses are few. */
const debtPauseMs = 100;

/** The part of a sandbox that can be stopped. */
interface Held {
  /** Loses nothing: frames wait in the channel, and then in the sandbox. */
  pause(): void;
  /** Reads the frames that were sent already. The sandbox pays for them before it may send more. */
  catchUp(): void;
  resume(): void;
  /** False if the process is not known. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): boolean;
}

/** Counts the costs of one sandbox, and pauses it when it has spent its allowance. */
export class SandboxCosts {
  private readonly frames = new Allowance(framesPerSecond, framesBurstMax);
  private readonly bytes = new Allowance(frameBytesPerSecond, frameBytesBurstMax);
  private readonly pauses = new Set<Pause>();
  private paid: NodeJS.Timeout | undefined;
  private isStopped = false;
  private isOver = false;

  constructor(private readonly sandbox: Held) {}

  chargeFor(frame: Frame): void {
    if (frame.type === 'DATA') return this.chargeForData(frame.data.length);
    // Every run has one of each kind. A second one ends the process.
    if (frame.type === 'RESULT' || frame.type === 'LOADED') return;
    if (frame.type === 'STREAM') return this.charge(streamEventCost, frame.bytes);
    this.charge(frame.type === 'RPC' ? callCost(frame.head) : 1, frame.bytes);
  }

  /** Charges for data in either direction. */
  chargeForData(bytes: number): void {
    this.charge(dataFrameCost, bytes * dataByteCost);
  }

  /** Ends a run. The next one owes nothing. */
  startAnew(): void {
    this.frames.refill();
    this.bytes.refill();
    this.resume('calls');
    this.resume('costs');
  }

  isPausedFor(reason: Pause): boolean {
    return this.pauses.has(reason);
  }

  pause(reason: Pause): void {
    this.pauses.add(reason);
    this.sandbox.pause();
    if (reason !== 'calls') this.stop();
  }

  resume(reason: Pause): void {
    if (!this.pauses.delete(reason) || this.isOver) return;
    if (this.pauses.size === 0) this.sandbox.catchUp();
    if (this.pauses.size === 0) this.sandbox.resume();
    if (!this.pauses.has('costs') && !this.pauses.has('idle')) this.goOn();
  }

  /** Called when the process has ended. */
  end(): void {
    this.isOver = true;
    clearTimeout(this.paid);
  }

  private charge(frames: number, bytes: number): void {
    const waitMs = Math.max(this.frames.spend(frames), this.bytes.spend(bytes));
    if (waitMs === 0 || this.pauses.has('costs') || this.isOver) return;
    this.pause('costs');
    clearTimeout(this.paid);
    this.paid = setTimeout(() => this.resume('costs'), waitMs + debtPauseMs);
  }

  private stop(): void {
    if (!this.isStopped) this.isStopped = this.sandbox.signal('SIGSTOP');
  }

  private goOn(): void {
    if (!this.isStopped || this.isOver) return;
    this.isStopped = false;
    this.sandbox.signal('SIGCONT');
  }
}

function callCost(call: JsonObject): number {
  if (call['method'] === 'egress.open') return openFrameCost;
  return call['method'] === 'egress.lookup' ? lookUpFrameCost : 1;
}
