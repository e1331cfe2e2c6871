import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(__dirname, '..', '..');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The command line as npm installs it, in an empty folder, for a user who has nothing. */
export class PackedCli {
  readonly #folder = mkdtempSync(join(tmpdir(), 'glovebox-cli-'));
  /** Where it is installed, as `npm ci` would do it. */
  readonly modules = join(this.#folder, 'node_modules');
  readonly program = join(this.modules, '@glovebox', 'cli', 'glovebox.mjs');
  /** The folder of the author. */
  readonly cwd = join(this.#folder, 'work');
  readonly configFile = join(this.#folder, 'config', 'glovebox', 'profiles.json');
  readonly files: readonly string[];
  /** The name of the file that `npm pack` makes. */
  readonly archive: string;

  constructor() {
    mkdirSync(this.cwd);
    const built = join(root, 'dist', 'apps', 'cli');
    const args = ['pack', built, '--json', '--pack-destination', this.#folder];
    const said = execFileSync('npm', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ filename, files }] = JSON.parse(said) as [
      { filename: string; files: readonly { path: string }[] },
    ];
    this.files = files.map(({ path }) => path);
    const installed = dirname(this.program);
    mkdirSync(installed, { recursive: true });
    this.archive = filename;
    const packed = join(this.#folder, filename);
    execFileSync('tar', ['-xzf', packed, '-C', installed, '--strip-components=1']);
    // What npm would install beside it.
    symlinkSync(join(root, 'node_modules', 'esbuild'), join(this.modules, 'esbuild'));
    chmodSync(this.program, 0o755);
    mkdirSync(join(this.modules, '.bin'));
    symlinkSync(this.program, join(this.modules, '.bin', 'glovebox'));
  }

  /** That of a user who has nothing. */
  get environment(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.#folder,
      XDG_CONFIG_HOME: join(this.#folder, 'config'),
    };
  }

  start(args: readonly string[], { cwd = this.cwd, env = {} }: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [this.program, ...args], {
      cwd,
      env: {
        ...this.environment,
        ...env,
      },
    });
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const child = this.start(args, options);
    let [stdout, stderr] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin?.on('error', () => undefined).end(options.input ?? '');
    const code = await new Promise<number | null>((done) => child.once('close', done));
    return { code, stdout, stderr };
  }

  /** Runs it, and fails unless it ends well. */
  async succeed(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0) throw new Error(`glovebox ${args.join(' ')}: ${code}\n${stdout}\n${stderr}`);
    return stdout;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
