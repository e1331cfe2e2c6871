import { connect, type Socket } from 'node:net';
import { isThisMachine } from '../connection';
import { codeOf, Failure, usage } from '../failure';
import type { Side } from '../project/trial';

/** A process that has been made ready for a run, and waits for its start. */
export interface Begun {
  readonly side: Side;
  readonly runtime: string;
}

/** Is told what the runner says. */
export interface RunnerListener {
  begun(run: Begun): void;
  said(message: string): void;
  ended(): void;
  /** The link was closed by the runner, or broke. */
  lost(why: string): void;
}

/** Where the runner listens. */
interface RunnerAddress {
  readonly host: string;
  readonly port: number;
}

export const usualRunner = '127.0.0.1:9230';
const lineBytesMax = 8 * 1024 * 1024;
const readyMs = 5_000;

/** Only this machine: the link is not encrypted, and shows what the code sees. */
export function runnerAddressOf(text: string): RunnerAddress {
  const [, host = '', digits = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host === '' || port === 0 || port > 65_535) {
    throw usage(`"${text}" is no address of a runner.`, `It is like ${usualRunner}.`);
  }
  if (!isThisMachine(host)) {
    throw usage(
      `${text} is not on this machine, and the connection is not encrypted.`,
      `ssh -L ${port}:127.0.0.1:${port} ${host} brings the port here: --inspector 127.0.0.1:${port}`,
    );
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port };
}

/** The connection to a runner, through which a debugger reaches the runs of one session. */
export class RunnerLink {
  #isClosed = false;

  private constructor(
    private readonly socket: Socket,
    private readonly listener: RunnerListener,
  ) {}

  static async open(
    address: RunnerAddress,
    session: string,
    listener: RunnerListener,
    signal: AbortSignal,
  ): Promise<RunnerLink> {
    const socket = connect({ ...address, noDelay: true });
    // Whoever reads lines is told. One that comes when nobody reads any more means nothing.
    socket.on('error', () => undefined);
    const lines = linesOf(socket);
    const giveUp = (): void => void socket.destroy();
    const waiting = setTimeout(giveUp, readyMs);
    signal.addEventListener('abort', giveUp);
    try {
      signal.throwIfAborted();
      socket.write(`${JSON.stringify({ session })}\n`);
      const { value } = await lines.next();
      if (objectIn(value ?? '')?.ready !== true) throw new Error('no word of a runner');
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw noRunnerAt(address, error);
    } finally {
      clearTimeout(waiting);
      signal.removeEventListener('abort', giveUp);
    }
    const link = new RunnerLink(socket, listener);
    void link.#hear(lines);
    return link;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Hands a message of the debugger to the run that is under way. */
  pass(message: string): void {
    this.#send({ message });
  }

  /** Lets the run load its code. */
  start(): void {
    this.#send({ start: true });
  }

  /** The listener hears nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.socket.destroy();
  }

  #send(line: object): void {
    if (!this.#isClosed) this.socket.write(`${JSON.stringify(line)}\n`);
  }

  async #hear(lines: AsyncGenerator<string>): Promise<void> {
    let why = 'the runner has closed it';
    try {
      for await (const line of lines) this.#take(objectIn(line) ?? {});
    } catch (error) {
      why = (error as Error).message;
    }
    if (this.#isClosed) return;
    this.close();
    this.listener.lost(why);
  }

  /** What is not of a form that is known says nothing. */
  #take({ begun, message, ended }: Record<string, unknown>): void {
    if (this.#isClosed) return;
    if (isBegun(begun)) this.listener.begun(begun);
    if (typeof message === 'string') this.listener.said(message);
    if (ended === true) this.listener.ended();
  }
}

async function* linesOf(socket: Socket): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    for (let from = 0, to = 0; to !== -1; from = to + 1) {
      to = chunk.indexOf('\n', from);
      const part = chunk.subarray(from, to === -1 ? undefined : to);
      parts.push(part);
      bytes += part.length;
      if (bytes > lineBytesMax)
        throw new Error(`a line of it is longer than ${lineBytesMax} bytes`);
      if (to === -1) break;
      yield Buffer.concat(parts).toString('utf8');
      [parts, bytes] = [[], 0];
    }
  }
}

/** The members of an object in JSON. Undefined for anything else. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;

const sides: readonly unknown[] = ['reactor', 'request', 'response'] satisfies Side[];

function isBegun(value: unknown): value is Begun {
  const { side, runtime } = asObject(value) ?? {};
  return sides.includes(side) && typeof runtime === 'string';
}

function noRunnerAt({ host, port }: RunnerAddress, error: unknown): Failure {
  const isNobody = codeOf(error) === 'ECONNREFUSED';
  const what = isNobody ? 'Nobody listens' : 'No runner that lets code be inspected listens';
  return new Failure(
    'unreachable',
    `${what} at ${host}:${port}.`,
    [
      'On the machine of Glovebox: SANDBOX_INSPECT=true npm start',
      `From another one: ssh -L ${port}:127.0.0.1:${port} MACHINE`,
      'Where it has another port: --inspector 127.0.0.1:PORT, or GLOVEBOX_INSPECTOR.',
    ].join('\n'),
  );
}
