import { relative } from 'node:path';
import { watch } from 'chokidar';

const ignored = /(?:^|[/\\])(?:node_modules|\.git|\.glovebox)(?:[/\\]|$)/;
/** Where the system tells nothing, files are looked at. */
const lookMs = 1_000;

/** Wakes whoever looks for changes in the files of a folder. Keeps the process up until it is closed. */
export class FolderWatch {
  #wake: (() => void) | undefined;
  readonly #looks: NodeJS.Timeout;
  readonly #watcher;
  readonly #ready: Promise<unknown>;

  constructor(
    root: string,
    private readonly signal: AbortSignal,
    looksEveryMs = lookMs,
  ) {
    this.#looks = setInterval(() => this.#wake?.(), looksEveryMs);
    this.#watcher = watch(root, {
      ignored: (path) => ignored.test(relative(root, path)),
      ignoreInitial: true,
      // It begins to watch the folder above one that goes, also after it was closed. That does not
      // keep the process up.
      persistent: false,
      // One that leads out of the folder, or in a circle, is not the project's.
      followSymlinks: false,
    });
    // What the system refuses to watch is looked at.
    this.#watcher.on('error', () => undefined);
    this.#watcher.on('all', () => this.#wake?.());
    signal.addEventListener('abort', () => this.#wake?.());
    this.#ready = new Promise<void>((done) => {
      this.#watcher.once('ready', done);
      signal.addEventListener('abort', () => done());
    });
  }

  /** Resolves when the system tells of changes, or at the end. */
  async ready(): Promise<void> {
    await this.#ready;
  }

  /** Resolves after the next change of something, at the end, and after a second anyway. */
  async next(): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise<void>((done) => (this.#wake = done));
  }

  async close(): Promise<void> {
    clearInterval(this.#looks);
    await this.#watcher.close();
  }
}
