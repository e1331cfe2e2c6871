import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from './free-port';
import { waitFor } from './wait-for';

const root = join(__dirname, '../../..');

/** The built runner in a process of its own, with real sandboxes. */
interface TestRunner {
  readonly url: string;
  readonly secret: string;
  /** Everything that it has logged so far. */
  log(): string;
  stop(): Promise<void>;
}

/** `command` is put in front of Node, such as a program that takes a capability away. */
export async function startRunner({
  command: [first = process.execPath, ...rest] = [],
  env = {},
}: {
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
} = {}): Promise<TestRunner> {
  const url = `tcp://127.0.0.1:${await freePort()}`;
  const secret = 'a secret of the specs that is long enough for a network';
  const main = join(root, 'dist/apps/runner/main.js');
  const parameters = first === process.execPath ? rest : [...rest, process.execPath];
  const child = spawn(first, [...parameters, main], {
    env: {
      RUNNER_LISTEN: url,
      RUNNER_SECRET: secret,
      RUNNER_RUNTIMES_DIR: join(root, 'apps/runner/runtimes'),
      RUNNER_NATIVE_DIR: join(root, 'apps/runner/native/prebuilt'),
      SANDBOX_LEVEL: '2',
      OPS_PORT: String(await freePort()),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let log = '';
  child.stdout.on('data', (chunk) => (log += String(chunk)));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  try {
    await waitFor(
      () => {
        if (child.exitCode !== null) throw new Error(`the runner has ended: ${log}`);
        return log.includes('listening');
      },
      { timeoutMs: 15_000 },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, secret, log: () => log, stop };
}
