import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { call, scriptEnvironment, until, type Product } from './product';

const root = join(__dirname, '..');
const run = promisify(execFile);

/** A product of one test, with stores of its own, that nobody else misses. */
export interface OwnProduct extends Product {
  /** Where it keeps data, keys and logs. */
  readonly folder: string;
  readonly tenantId: string;
  readonly secondTenant: Product['secondTenant'] & { readonly tenantId: string };
  readonly databaseUrls: { readonly rotation: string };
  readonly opsUrls: Readonly<Record<string, string>>;
  readonly demoDestination: string;
  /** Stops it and starts it again on the same data. Returns it with the words of the start. */
  startAgain(): Promise<OwnProduct & { readonly said: string }>;
  /** Runs a script of the operator, and returns what it says. */
  script(name: string, ...args: string[]): Promise<string>;
  /** Ends what was started here. The test ends what it has started itself. */
  stop(): Promise<void>;
}

export async function startOwnProduct(
  settings: Readonly<Record<string, string>> = {},
): Promise<OwnProduct> {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-own-'));
  // Started by root, Postgres and Redis run as nobody and must pass through.
  chmodSync(folder, 0o711);
  const environment = {
    ...scriptEnvironment(),
    GLOVEBOX_DIR: folder,
    GATEWAY_PORT: '0',
    MANAGEMENT_PORT: '0',
    CONSOLE_PORT: '0',
    EGRESS_ALLOW: '127.0.0.1:*',
    ...settings,
  };
  const script = (name: string, ...args: string[]): Promise<{ stdout: string }> =>
    run(process.execPath, [join(root, 'tools', name), ...args], { env: environment });
  const start = async (): Promise<OwnProduct & { readonly said: string }> => {
    const { stdout: said } = await script('start.mjs', '--detach');
    const product = JSON.parse(readFileSync(join(folder, 'dev.json'), 'utf8')) as OwnProduct;
    return {
      ...product,
      folder,
      said,
      script: async (name, ...args) => (await script(name, ...args)).stdout,
      async startAgain() {
        await script('stop.mjs');
        return start();
      },
      async stop() {
        await script('stop.mjs');
        rmSync(folder, { recursive: true, force: true });
      },
    };
  };
  return start();
}

/** Waits until a process that serves health here is ready. */
export const ready = (opsUrl: string | undefined): Promise<void> =>
  until(async () => (await call('GET', `${opsUrl}/health/ready`)).status === 200, 60_000);
