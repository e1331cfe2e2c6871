import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @param {string} name */
const tool = (name) => fileURLToPath(new URL(`../../tools/${name}.mjs`, import.meta.url));

/**
 * Runs the whole product as `npm start` makes it, in its own folder, while `work` lasts.
 *
 * @template Result
 * @param {Readonly<Record<string, string>>} environment
 * @param {(dev: import('../../tools/lib/types.js').Dev, env: NodeJS.ProcessEnv) => Promise<Result>} work with the
 *   environment in which the scripts of the product find it
 */
export async function withProduct(environment, work) {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-bench-'));
  const env = {
    ...process.env,
    GATEWAY_PORT: '0',
    MANAGEMENT_PORT: '0',
    CONSOLE_PORT: '0',
    ...environment,
    GLOVEBOX_DIR: folder,
  };
  // In its own group: an interruption of the bench must not interrupt the end of the product.
  /**
   * @param {string} name
   * @param {string[]} args
   */
  const run = (name, ...args) => {
    /** @type {import('node:child_process').SpawnSyncOptionsWithStringEncoding & { detached: boolean }} */
    const options = { env, encoding: 'utf8', detached: true };
    return spawnSync(process.execPath, [tool(name), ...args], options);
  };
  const end = () => {
    run('stop');
    rmSync(folder, { recursive: true, force: true });
  };
  // The product runs detached; without this it would survive an interrupted bench.
  process.once('exit', end);
  try {
    const started = run('start', '--detach');
    if (started.status !== 0) throw new Error(`The product did not start:\n${started.stderr}`);
    return await work(JSON.parse(readFileSync(join(folder, 'dev.json'), 'utf8')), env);
  } finally {
    process.off('exit', end);
    end();
  }
}

/** Exits on an interruption, since all other processes are ended on `exit`. */
export function endOnSignal() {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
}
