import { SourceMap, type SourceMapPayload } from 'node:module';
import { WebSocket, type RawData } from 'ws';
import { waitFor } from './wait-for';

type Members = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Members;
  readonly result?: Members;
  readonly error?: { readonly message: string };
}

/** A place of a script, counted from 0 as the protocol does. */
interface Location {
  readonly scriptId: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** A script that a debugger was told of. */
interface ParsedScript {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL: string;
}

/** Where a program is paused. */
interface Paused {
  readonly reason: string;
  readonly hitBreakpoints?: readonly string[];
  readonly callFrames: readonly {
    readonly callFrameId: string;
    readonly location: Location;
  }[];
}

/** A debugger that speaks the protocol of Chrome DevTools, as editors do. */
export class AttachedDebugger {
  readonly #answers = new Map<number, Message>();
  readonly #events: Message[] = [];
  #asked = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data: RawData) => {
      const message = JSON.parse((data as Buffer).toString('utf8')) as Message;
      if (message.id === undefined) this.#events.push(message);
      else this.#answers.set(message.id, message);
    });
    socket.on('error', () => undefined);
  }

  /** Rejects where the debugger is refused. */
  static async attach(
    url: string,
    headers: Record<string, string> = {},
  ): Promise<AttachedDebugger> {
    const socket = new WebSocket(url, { headers });
    const attached = new AttachedDebugger(socket);
    await new Promise<void>((done, fail) => {
      socket.once('open', done);
      socket.once('error', fail);
    });
    return attached;
  }

  get isClosed(): boolean {
    return this.socket.readyState === WebSocket.CLOSED;
  }

  /** Sends a command, and returns its result when there is one. */
  async ask(method: string, params: Members = {}): Promise<Members> {
    const id = (this.#asked += 1);
    this.socket.send(JSON.stringify({ id, method, params }));
    await waitFor(() => this.#answers.has(id));
    const { result, error } = this.#answers.get(id) ?? {};
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  /** Sends commands that are answered when a program is there. */
  say(...methods: readonly (string | readonly [method: string, params: Members])[]): void {
    for (const one of methods) {
      const [method, params] = typeof one === 'string' ? [one, {}] : one;
      this.socket.send(JSON.stringify({ id: (this.#asked += 1), method, params }));
    }
  }

  /** The next pause, which may have been before. */
  paused(): Promise<Paused> {
    return this.#event('Debugger.paused') as Promise<unknown> as Promise<Paused>;
  }

  /** The script of this URL, which may have been parsed before. */
  async parsed(url: string): Promise<ParsedScript> {
    const isOne = (params: Members | undefined): boolean => params?.url === url;
    return (await this.#event('Debugger.scriptParsed', isOne)) as unknown as ParsedScript;
  }

  /** The place of the script where the code of this line of a file begins. Lines count from 1. */
  async placeOf(script: ParsedScript, source: string, line: number): Promise<Location> {
    const { scriptId } = script;
    const map = mapOf(script);
    const { scriptSource } = await this.ask('Debugger.getScriptSource', { scriptId });
    for (const [lineNumber, text] of String(scriptSource).split('\n').entries()) {
      const columnNumber = text.search(/\S|$/);
      const found = map.findEntry(lineNumber, columnNumber);
      const isThere = 'originalSource' in found && found.originalSource === source;
      if (isThere && found.originalLine === line - 1) return { scriptId, lineNumber, columnNumber };
    }
    throw new Error(`no code is of ${source}:${line}`);
  }

  /** The line of the source where the program is paused. */
  sourceLineOf(script: ParsedScript, { callFrames: [frame] }: Paused): string {
    if (!frame) throw new Error('paused nowhere');
    const { lineNumber, columnNumber } = frame.location;
    const found = mapOf(script).findEntry(lineNumber, columnNumber);
    return 'originalSource' in found ? `${found.originalSource}:${found.originalLine + 1}` : 'none';
  }

  /** The value of an expression where the program is paused. */
  async valueOf({ callFrames: [frame] }: Paused, expression: string): Promise<unknown> {
    const params = { callFrameId: frame?.callFrameId, expression, returnByValue: true };
    const { result } = await this.ask('Debugger.evaluateOnCallFrame', params);
    return (result as Members).value;
  }

  detach(): void {
    this.socket.terminate();
  }

  async #event(
    name: string,
    isOne: (params: Members | undefined) => boolean = () => true,
  ): Promise<Members> {
    const isIt = ({ method, params }: Message): boolean => method === name && isOne(params);
    await waitFor(() => this.#events.some(isIt));
    const [found] = this.#events.splice(this.#events.findIndex(isIt), 1);
    return found?.params ?? {};
  }
}

function mapOf({ sourceMapURL }: ParsedScript): SourceMap {
  const text = Buffer.from(sourceMapURL.replace(/^[^,]*,/, ''), 'base64').toString('utf8');
  return new SourceMap(JSON.parse(text) as SourceMapPayload);
}
