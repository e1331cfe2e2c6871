import type { JsonObject } from '@glovebox/sandbox';

/**
 * What a process says of itself between runs. It tells of its rest after each run, and answers when
 * it is asked. It may lie.
 */
export class Liveness {
  /** Something of its last run goes on. */
  hasLeftovers = false;
  /** Nothing can happen in it before the next run, so it need not be asked before that. */
  isQuiet = false;

  private hasCalled = false;
  private restDue: number | undefined;
  private lastPing = 0;
  private onRested: ((isInTime: boolean) => void) | undefined;
  private onPong: ((isInTime: boolean) => void) | undefined;

  constructor(private readonly ping: (id: number) => void) {}

  runBegins(): void {
    this.isQuiet = false;
    this.hasCalled = false;
    this.restDue = undefined;
  }

  /** The answer to a call may come behind the end of the run, and set something going then. */
  runCalls(): void {
    this.hasCalled = true;
  }

  runEnds(run: number): void {
    this.restDue = run;
  }

  /** It has said so, with its result or behind it. */
  get isAtRest(): boolean {
    return !this.hasCalled && this.restDue === undefined;
  }

  /** Tells whether the event loop turns after the run. A process that spins is of no use. */
  comesToRest(limitMs: number): Promise<boolean> {
    if (this.hasCalled) return this.answersWithin(limitMs);
    if (this.isAtRest) return Promise.resolve(true);
    return within(limitMs, (settle) => (this.onRested = settle));
  }

  /** Tells whether the event loop still turns. */
  answersWithin(limitMs: number): Promise<boolean> {
    return within(limitMs, (settle) => {
      this.onPong = settle;
      this.lastPing += 1;
      this.ping(this.lastPing);
    });
  }

  onRest(head: JsonObject): void {
    if (this.restDue === undefined || head['run'] !== this.restDue) return;
    this.restDue = undefined;
    this.read(head);
    this.onRested?.(true);
  }

  onAnswer(head: JsonObject): void {
    this.read(head);
    if (head['id'] === this.lastPing) this.onPong?.(true);
  }

  /** The process has ended. */
  end(): void {
    this.onRested?.(false);
    this.onPong?.(false);
  }

  private read(head: JsonObject): void {
    this.hasLeftovers = head['leftovers'] === true;
    this.isQuiet = head['quiet'] === true && !this.hasCalled;
  }
}

function within(
  limitMs: number,
  begin: (settle: (isInTime: boolean) => void) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    // An answer that has arrived while this thread was busy is read first.
    const timer = setTimeout(() => setImmediate(resolve, false), limitMs);
    begin((isInTime) => {
      clearTimeout(timer);
      resolve(isInTime);
    });
  });
}
