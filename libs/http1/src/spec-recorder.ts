import type { Socket } from 'node:net';
import type { AnswerReceiver } from './answer-receiver';

/** Records every call. `told` has the names in order, those of one kind in a row once. */
export class Recorder implements AnswerReceiver {
  readonly told: string[] = [];
  readonly informationals: number[] = [];
  status = 0;
  headers: string[] = [];
  trailers: string[] | undefined = undefined;
  readonly parts: Buffer[] = [];
  readonly lasts: boolean[] = [];
  socket: Socket | undefined;
  error: Error | undefined = undefined;
  readonly over: Promise<this>;
  #isOver: (self: this) => void = () => undefined;

  constructor(private readonly does: Partial<AnswerReceiver> = {}) {
    this.over = new Promise((resolve) => (this.#isOver = resolve));
  }

  get body(): string {
    return Buffer.concat(this.parts).toString('latin1');
  }

  begun(): void {
    this.#note('begun');
    this.does.begun?.();
  }

  informational(status: number): void {
    this.#note('informational');
    this.informationals.push(status);
    this.does.informational?.(status);
  }

  head(status: number, headers: string[]): void {
    this.#note('head');
    this.status = status;
    this.headers = headers;
    this.does.head?.(status, headers);
  }

  headAlone(): void {
    this.#note('headAlone');
    this.does.headAlone?.();
  }

  data(chunk: Buffer, isLast: boolean): boolean {
    this.#note('data');
    this.parts.push(Buffer.from(chunk));
    this.lasts.push(isLast);
    return this.does.data?.(chunk, isLast) ?? true;
  }

  complete(trailers: string[]): void {
    this.#note('complete');
    this.trailers = trailers;
    this.#isOver(this);
    this.does.complete?.(trailers);
  }

  upgraded(status: number, headers: string[], socket: Socket): void {
    this.#note('upgraded');
    this.status = status;
    this.headers = headers;
    this.socket = socket;
    this.#isOver(this);
    this.does.upgraded?.(status, headers, socket);
  }

  bodySent(): void {
    this.#note('bodySent');
    this.does.bodySent?.();
  }

  requestSent(): void {
    this.#note('requestSent');
    this.does.requestSent?.();
  }

  failed(error: Error): void {
    this.#note('failed');
    this.error = error;
    this.#isOver(this);
    this.does.failed?.(error);
  }

  #note(name: string): void {
    if (this.told.at(-1) !== name) this.told.push(name);
  }
}
