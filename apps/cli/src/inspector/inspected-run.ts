import { asObject, objectIn, type RunnerLink } from './runner-link';

type Message = Readonly<Record<string, unknown>>;

/** The name of the code in the sandbox. */
const codeName = 'reactor.js';
/** Of what is asked here beside the debugger, which counts from 1. */
const firstOwnId = 2_000_000_000;
/** Before the first statement of the code. */
const atStart = { url: codeName, lineNumber: 0, columnNumber: 0 };

/**
 * A run with its debugger. V8 sets no instrumentation breakpoint in code that is compiled as a
 * function, as that of reactors is. So a breakpoint of its own stops the run before its first
 * statement, when the debugger knows the source map and no statement was missed.
 */
export class InspectedRun {
  #isStarted = false;
  #waitsForMaps = false;
  #ownId = firstOwnId;
  /** The breakpoint of its own, once the sandbox has set it. */
  #start: { readonly asked: number; readonly breakpointId?: unknown } | undefined;

  constructor(
    private readonly link: Pick<RunnerLink, 'pass' | 'start'>,
    private readonly sourceMapUrl: string | undefined,
  ) {}

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Hands on what the debugger says. */
  take(message: string): void {
    const { method, params } = objectIn(message) ?? {};
    if (method === 'Debugger.setInstrumentationBreakpoint') {
      const { instrumentation } = asObject(params) ?? {};
      this.#waitsForMaps ||= instrumentation === 'beforeScriptWithSourceMapExecution';
    }
    this.link.pass(message);
    if (method !== 'Runtime.runIfWaitingForDebugger' || this.#isStarted) return;
    this.#start = { asked: this.#ask('Debugger.setBreakpointByUrl', atStart) };
    this.#isStarted = true;
    this.link.start();
  }

  /** The run goes on, or waits for another debugger, without the breakpoints of this one. */
  leave(): void {
    this.#waitsForMaps = false;
    for (const domain of ['Debugger', 'Runtime']) this.#ask(`${domain}.disable`);
  }

  /** A message of the sandbox as the debugger gets it. Undefined: it is none for it. */
  shown(text: string): string | undefined {
    const message = objectIn(text);
    if (!message || Number(message.id) >= firstOwnId) return this.#note(message);
    const params = asObject(message.params) ?? {};
    switch (message.method) {
      case 'Debugger.scriptParsed':
      case 'Debugger.scriptFailedToParse':
        return JSON.stringify({ ...message, params: this.#withMap(params) });
      case 'Debugger.paused':
        return JSON.stringify({ ...message, params: this.#withReason(params) });
      default:
        return text;
    }
  }

  /** Of other scripts, a debugger fetches no map: code could have it call any address from here. */
  #withMap(params: Message): Message {
    const { url, sourceMapURL } = params;
    if (url === codeName) return { ...params, sourceMapURL: this.sourceMapUrl ?? '' };
    const isInline = typeof sourceMapURL === 'string' && sourceMapURL.startsWith('data:');
    return isInline ? params : { ...params, sourceMapURL: '' };
  }

  #withReason(params: Message): Message {
    const hit: readonly unknown[] = Array.isArray(params.hitBreakpoints)
      ? params.hitBreakpoints
      : [];
    const breakpointId = this.#start?.breakpointId;
    if (breakpointId === undefined || !hit.includes(breakpointId)) return params;
    this.#ask('Debugger.removeBreakpoint', { breakpointId });
    const others = hit.filter((id) => id !== breakpointId);
    return { ...params, hitBreakpoints: others, ...this.#reasonOfStart(params) };
  }

  /** A debugger that waits for source maps resumes by itself. Others stop as at `--inspect-brk`. */
  #reasonOfStart({ callFrames }: Message): Message {
    if (!this.#waitsForMaps) return { reason: 'Break on start' };
    const [frame] = Array.isArray(callFrames) ? (callFrames as unknown[]) : [];
    const { scriptId } = asObject(asObject(frame)?.location) ?? {};
    const data = { url: codeName, scriptId, sourceMapURL: this.sourceMapUrl };
    return { reason: 'instrumentation', data };
  }

  #ask(method: string, params: Message = {}): number {
    const id = this.#ownId++;
    this.link.pass(JSON.stringify({ id, method, params }));
    return id;
  }

  /** An answer that the debugger has not asked for. */
  #note({ id, result }: Message = {}): undefined {
    if (this.#start === undefined || id !== this.#start.asked) return;
    this.#start = { ...this.#start, breakpointId: asObject(result)?.breakpointId };
  }
}
