import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from '../context';
import { usage } from '../failure';
import type { Inspected, SentCode, Side } from '../project/trial';
import { plain } from '../terminal';
import { DevtoolsEndpoint } from './devtools-endpoint';
import { givenMapOf } from './given-map';
import { InspectedRun } from './inspected-run';
import { RunnerLink, runnerAddressOf, usualRunner, type Begun } from './runner-link';

/** As the command says it. True: the usual port. */
export interface InspectOptions {
  readonly inspect?: string | true;
  readonly inspector?: string;
}

const usualPort = 9229;
/** What a debugger may say while no run is there to hear it. */
const waitingMax = 10_000;
const waitingCharactersMax = 8 * 1024 * 1024;

const names: Readonly<Record<Side, string>> = {
  reactor: 'The reactor',
  request: 'The request transform',
  response: 'The response transform',
};

/** Takes a debugger on this machine to the runs of one `dev`, in the sandbox. */
export class Inspection implements Inspected {
  /** The secret that ties runs to this debugger. */
  readonly session = randomUUID();
  #endpoint: DevtoolsEndpoint | undefined;
  #link: RunnerLink | undefined;
  #code: SentCode = {};
  #run: InspectedRun | undefined;
  #name = '';
  #waiting: string[] = [];
  #waitingCharacters = 0;

  private constructor(
    private readonly context: Context,
    private readonly root: string,
    private readonly runner: ReturnType<typeof runnerAddressOf>,
  ) {}

  /** Listens for debuggers of a file, once a runner is there. */
  static async open(
    context: Context,
    { inspect, inspector }: InspectOptions,
    root: string,
    file: string,
  ): Promise<Inspection> {
    const port = portOf(inspect);
    const address = inspector ?? context.env.GLOVEBOX_INSPECTOR ?? usualRunner;
    const inspection = new Inspection(context, root, runnerAddressOf(address));
    try {
      await inspection.#connect();
      await inspection.#listen(port, file);
    } catch (error) {
      inspection.close();
      throw error;
    }
    return inspection;
  }

  /** Is told the code before each run. A runner that was restarted is connected to again. */
  async expect(code: SentCode): Promise<void> {
    this.#code = code;
    if (this.#link?.isClosed !== false) await this.#connect();
  }

  close(): void {
    this.#endpoint?.close();
    this.#link?.close();
  }

  async #connect(): Promise<void> {
    const listener = {
      begun: (run: Begun) => this.#begin(run),
      said: (message: string) => this.#show(message),
      ended: () => this.#end(),
      lost: (why: string) => this.#lose(why),
    };
    this.#link = await RunnerLink.open(this.runner, this.session, listener, this.context.signal);
  }

  async #listen(port: number, file: string): Promise<void> {
    const target = { title: file, url: pathToFileURL(join(this.root, file)).href };
    this.#endpoint = await DevtoolsEndpoint.open(port, target, {
      attached: () => this.context.terminal.say('Debugger attached.'),
      said: (message) => this.#hear(message),
      left: () => this.#leave(),
    });
    // Editors attach on these words of Node.
    this.context.terminal.say(`Debugger listening on ${this.#endpoint.url}`);
  }

  #begin({ side, runtime }: Begun): void {
    const link = this.#link;
    if (!link) return;
    const code = this.#code[side];
    this.#name = `${names[side]} (${plain(runtime)})`;
    this.#run = new InspectedRun(link, code && givenMapOf(this.root, code));
    const waiting = this.#waiting;
    this.#forget();
    waiting.forEach((message) => this.#run?.take(message));
    this.#sayIfWaiting();
  }

  #sayIfWaiting(): void {
    const { terminal } = this.context;
    if (!this.#run || this.#run.isStarted || !this.#endpoint) return;
    terminal.say(
      this.#endpoint.hasDebugger
        ? `${this.#name} waits until the debugger lets it run.`
        : `${this.#name} waits for a debugger at ${this.#endpoint.address}.`,
    );
  }

  #hear(message: string): void {
    if (this.#run) return this.#run.take(message);
    this.#waiting.push(message);
    this.#waitingCharacters += message.length;
    const isTooMuch =
      this.#waiting.length > waitingMax || this.#waitingCharacters > waitingCharactersMax;
    if (isTooMuch) this.#endpoint?.dismiss(1008, 'No run is there to hear as much.');
  }

  #show(message: string): void {
    const shown = this.#run?.shown(message);
    if (shown !== undefined) this.#endpoint?.send(shown);
  }

  #end(): void {
    if (!this.#run) return;
    this.#run = undefined;
    this.#endpoint?.dismiss();
  }

  #leave(): void {
    this.#forget();
    this.#run?.leave();
    this.#sayIfWaiting();
  }

  #forget(): void {
    this.#waiting = [];
    this.#waitingCharacters = 0;
  }

  #lose(why: string): void {
    this.context.terminal.say(`The connection to the runner is lost: ${plain(why)}.`);
    this.#end();
  }
}

function portOf(given: string | true | undefined): number {
  if (given === undefined || given === true) return usualPort;
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Infinity;
  if (port <= 65_535) return port;
  throw usage(
    `"${given}" is no port for --inspect.`,
    'The name comes first: glovebox dev NAME --inspect',
  );
}
