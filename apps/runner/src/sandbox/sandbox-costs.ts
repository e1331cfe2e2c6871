import type { Frame } from '@glovebox/sandbox';
import { Allowance } from './allowance';

/**
 * Why nothing is read from a sandbox: too many calls are open; it has cost more than it may; it has
 * no run. In the latter two cases the kernel keeps it from running as well.
 */
type Pause = 'calls' | 'costs' | 'idle';

/**
 * What the frames of one sandbox may cost the thread that serves all of them. A run starts with the
 * second figure and earns the first one per second; beyond that its channel waits.
 */
const framesPerSecond = 200;
const framesBurstMax = 400;
const frameBytesPerSecond = 8 * 1024 * 1024;
const frameBytesBurstMax = 8 * 1024 * 1024;
/** Frames of streams cost less than those that are parsed and answered, a connection costs more. */
const dataFrameCost = 1 / 8;
const dataByteCost = 1 / 8;
const streamEventCost = 1 / 4;
const openFrameCost = 2;
/** Added to each pause for costs, so that there are few of them. */
const debtPauseMs = 100;

/** The sandbox, in so far as it can be held still. */
interface Held {
  /** Nothing is lost: what it says meanwhile waits in its channel, and then in itself. */
  pause(): void;
  /** Takes in what it has said already: it pays for that before it may say more. */
  catchUp(): void;
  resume(): void;
  /** False if its process is not known. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): boolean;
}

/** What one sandbox costs, and the pauses that keep it from costing more. */
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
    // One of each kind belongs to every run, and a second one ends the process.
    if (frame.type === 'RESULT' || frame.type === 'LOADED') return;
    if (frame.type === 'STREAM') return this.charge(streamEventCost, frame.bytes);
    const isOpen = frame.type === 'RPC' && frame.body['method'] === 'egress.open';
    this.charge(isOpen ? openFrameCost : 1, frame.bytes);
  }

  /** In either direction. */
  chargeForData(bytes: number): void {
    this.charge(dataFrameCost, bytes * dataByteCost);
  }

  /** A run is over: the next one owes nothing. */
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

  /** The process is gone. */
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
