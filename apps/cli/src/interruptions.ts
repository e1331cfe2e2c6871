import { exitCodes } from './failure';

const always = ['SIGINT', 'SIGTERM'] as const;
export type Interruption = (typeof always)[number] | 'SIGHUP';

/** Signals that ask the program to end. The first one ends what is under way, the second does not wait. */
export class Interruptions {
  readonly #ending = new AbortController();
  readonly signal = this.#ending.signal;
  #take = (_: Interruption): void => {
    if (this.signal.aborted) this.process.exit(exitCodes.interrupted);
    this.end();
  };

  constructor(private readonly process: Pick<NodeJS.Process, 'on' | 'off' | 'exit'>) {
    for (const name of always) process.on(name, () => this.#take(name));
  }

  /** Ends what is under way. */
  end(): void {
    this.#ending.abort();
  }

  /** Until the work is done `take` has them all, a hang-up too, and none ends the program. */
  async during<Result>(
    take: (name: Interruption) => void,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const before = this.#take;
    const hangUp = (): void => take('SIGHUP');
    this.#take = take;
    this.process.on('SIGHUP', hangUp);
    try {
      return await work();
    } finally {
      this.process.off('SIGHUP', hangUp);
      this.#take = before;
    }
  }
}
