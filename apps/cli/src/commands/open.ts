import { spawn } from 'node:child_process';
import { findByName } from '../find-by-name';
import type { Context } from '../context';
import { usage } from '../failure';

interface OpenOptions {
  readonly print?: boolean;
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['explorer'],
};

/** The console, or the page of one resource in it. */
export async function open(context: Context, { print }: OpenOptions, name?: string): Promise<void> {
  const { env, terminal } = context;
  const base = env.GLOVEBOX_CONSOLE_URL ?? consoleBeside(context.connection().url);
  if (base === undefined) {
    throw usage(
      `Where is the console of ${context.connection().url}?`,
      'Set GLOVEBOX_CONSOLE_URL; the operator knows it.',
    );
  }
  const found = name === undefined ? undefined : await findByName(context.api(), name);
  const url = found
    ? `${base}/${found.kind === 'reactor' ? 'reactors' : 'proxies'}/${found.id}`
    : base;
  terminal.result({ url }, url);
  const isShown = !print && !terminal.isJson && process.stdout.isTTY;
  if (!isShown) return;
  const [command = 'xdg-open'] = openers[process.platform] ?? [];
  // No browser is no failure: the address has been printed.
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

/** `npm start` serves the console four ports above. */
function consoleBeside(url: string): string | undefined {
  const { protocol, hostname, port } = new URL(url);
  const isLocal = hostname === '127.0.0.1' || hostname === 'localhost';
  return isLocal && port !== '' ? `${protocol}//${hostname}:${Number(port) + 4}` : undefined;
}
