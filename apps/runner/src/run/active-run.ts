import {
  FrameError,
  levelOf,
  logBytesMax,
  logLinesMax,
  OpenCalls,
  parseOutcome,
  type JsonFrameType,
  type JsonObject,
  type LogLevel,
  type RunOrder,
  type UnreadOutcome,
} from '@glovebox/sandbox';
import { deadlines, type Limited } from '@glovebox/service-host';
import { refusalOf, type CallAnswer } from './call-refused';

/** The side of a run that gave it to this runner. */
export interface RunHooks {
  onCall(method: string, params: Buffer): Promise<CallAnswer>;
  onLog(line: { readonly at: number; readonly level: LogLevel }, text: Buffer): void;
}

/** The process that serves the run. */
export interface Server {
  /** The modules that code may require besides those of Node. */
  readonly modules: JsonObject;
  send(type: JsonFrameType, head: JsonObject, value: Buffer): void;
  answer(call: number, answer: CallAnswer, sent: () => void): void;
  /** Reads no further frame until `resume`. */
  pause(): void;
  resume(): void;
  kill(reason: string): void;
  /** Reads what the process has written so far. It is of no further use then. */
  hearOut(): void;
  /** Called once, when the run is over. */
  finished(outcome: UnreadOutcome): void;
}

/** One run and its process, which is untrusted: each frame has to be one that this run may send. */
export class ActiveRun implements Limited {
  place = -1;
  dueAt = 0;
  private readonly calls = new OpenCalls();
  /** A call above the limit of open calls. The channel is not read until there is room for it. */
  private heldCall: (() => void) | undefined;
  /** One more line says that there were more. */
  private linesLeft = logLinesMax + 1;
  private bytesLeft = logBytesMax;
  private isOver = false;

  constructor(
    readonly id: number,
    readonly order: RunOrder,
    private readonly hooks: RunHooks,
    private readonly server: Server,
  ) {
    deadlines.set(this, order.timeoutMs);
  }

  expire(): void {
    this.server.hearOut();
    // What the kernel holds is read before this.
    setImmediate(() => {
      this.settle({ kind: 'timed_out' });
      this.server.kill('timed out');
    });
  }

  load(code: Buffer): void {
    const { modules } = this.server;
    const { resultBytesMax } = this.order;
    this.server.send('LOAD', { run: this.id, modules, resultBytesMax }, code);
  }

  invoke(): void {
    const { kind, svc, resultBytesMax, input } = this.order;
    this.server.send('INVOKE', { run: this.id, kind, svc, resultBytesMax }, input);
  }

  settle(outcome: UnreadOutcome): void {
    if (this.isOver) return;
    this.isOver = true;
    deadlines.clear(this);
    this.server.finished(outcome);
  }

  // ---- frames of the sandbox ----

  onLoaded(head: JsonObject, value: Buffer): void {
    if (head['ok'] === true) return this.invoke();
    this.settle(outcomeOf(head, value, ['threw', 'invalid_code', 'invalid_result']));
    this.server.kill('the code could not be loaded');
  }

  onResult(head: JsonObject, value: Buffer): void {
    const answers = this.order.kind === 'transform' ? (['answered'] as const) : [];
    this.settle(outcomeOf(head, value, ['returned', 'threw', 'invalid_result', ...answers]));
    if (head['last'] === true) this.server.kill('an error was not handled');
  }

  onLog(head: JsonObject, text: Buffer): void {
    const level = levelOf(head);
    if (this.linesLeft === 0 || text.length > this.bytesLeft) return;
    this.linesLeft -= 1;
    this.bytesLeft -= text.length;
    this.hooks.onLog({ at: Date.now(), level }, text);
  }

  /** A call is open until the sandbox has its answer. A call above the limit is held back. */
  onCall(id: number, method: string, params: Buffer): void {
    const bytes = params.length;
    if (!this.calls.hasRoomFor(bytes)) {
      this.heldCall = () => this.onCall(id, method, params);
      return this.server.pause();
    }
    this.calls.open(bytes);
    void this.hooks
      .onCall(method, params)
      .catch(refusalOf)
      .then((answer) => this.server.answer(id, answer, () => this.closeCall(bytes)));
  }

  private closeCall(bytes: number): void {
    this.calls.close(bytes);
    if (this.isOver) return;
    const held = this.heldCall;
    this.heldCall = undefined;
    held?.();
    if (this.heldCall === undefined) this.server.resume();
  }
}

/** A sandbox reports the outcome of its code. Only the runner may report that of the run. */
function outcomeOf(
  head: JsonObject,
  value: Buffer,
  kinds: readonly UnreadOutcome['kind'][],
): UnreadOutcome {
  const { queuedMs: _, ...outcome } = parseOutcome(head, value);
  if (!kinds.includes(outcome.kind)) throw new FrameError(`a sandbox does not say ${outcome.kind}`);
  return outcome;
}
