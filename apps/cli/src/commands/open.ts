import { spawn } from 'node:child_process';
import { callable, findByName } from '../find-by-name';
import { consoleOf } from '../console-address';
import type { Context } from '../context';

interface OpenOptions {
  readonly print?: boolean;
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['explorer'],
};

/** The console, or the page of one resource in it. */
export async function open(context: Context, { print }: OpenOptions, name?: string): Promise<void> {
  const { terminal } = context;
  const base = consoleOf(context, context.connection().url);
  const found = name === undefined ? undefined : await findByName(context.api(), name, callable);
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
