import { stripVTControlCharacters } from 'node:util';

type Environment = Readonly<Record<string, string | undefined>>;
export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

const codes: Readonly<Record<Paint, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

const announcedAfterMs = 1_000;
const spinMs = 120;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Standard output has results alone; what a person should know beside them goes to standard error. */
export class Terminal {
  readonly #colours: Readonly<Record<'stdout' | 'stderr', boolean>>;

  constructor(
    private readonly stdout: NodeJS.WriteStream,
    private readonly stderr: NodeJS.WriteStream,
    private readonly settings: { readonly json: boolean; readonly colour: boolean },
    env: Environment,
  ) {
    const isPainted = ({ isTTY }: NodeJS.WriteStream): boolean =>
      settings.colour && !settings.json && mayPaint(env, isTTY);
    this.#colours = { stdout: isPainted(stdout), stderr: isPainted(stderr) };
  }

  get isJson(): boolean {
    return this.settings.json;
  }

  /** A part of a result. */
  paint(paint: Paint, text: string): string {
    return this.#colours.stdout ? painted(paint, text) : text;
  }

  /** A part of what is said beside the result. */
  paintSaid(paint: Paint, text: string): string {
    return this.#colours.stderr ? painted(paint, text) : text;
  }

  /** A result: the value as one line with `--json`, else the text. */
  result(value: unknown, text: string | (() => string)): void {
    if (this.isJson) this.stdout.write(`${JSON.stringify(value)}\n`);
    else this.stdout.write(`${typeof text === 'string' ? text : text()}\n`);
  }

  /** A text that is a result as it is, such as a script. */
  write(text: string): void {
    this.stdout.write(text);
  }

  /** Words beside the result. */
  say(text: string): void {
    this.stderr.write(`${text}\n`);
  }

  /** What takes more than a second says what it waits for: with --json to people alone. */
  async progress<Result>(label: string, work: Promise<Result>): Promise<Result> {
    const { isTTY } = this.stderr;
    const begun = performance.now();
    let spinning: NodeJS.Timeout | undefined;
    const announce = setTimeout(() => {
      if (!isTTY) return this.isJson ? undefined : this.say(`… ${label}`);
      let at = 0;
      spinning = setInterval(() => {
        const seconds = Math.round((performance.now() - begun) / 1_000);
        this.stderr.write(`\r\x1b[2K${frames[(at += 1) % frames.length]} ${label} (${seconds} s)`);
      }, spinMs);
    }, announcedAfterMs);
    try {
      return await work;
    } finally {
      clearTimeout(announce);
      if (spinning) {
        clearInterval(spinning);
        this.stderr.write('\r\x1b[2K');
      }
    }
  }
}

function painted(paint: Paint, text: string): string {
  const [on, off] = codes[paint];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

function mayPaint(env: Environment, isTTY: boolean): boolean {
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
}

const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** Text of others, such as the output of code, cannot move the cursor or change the terminal. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(
    controls,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
