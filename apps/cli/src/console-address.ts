import type { Context } from './context';
import { usage } from './failure';

/** Where the console of this Glovebox is. */
export function consoleOf({ env }: Pick<Context, 'env'>, url: string): string {
  const found = env.GLOVEBOX_CONSOLE_URL ?? consoleBeside(url);
  if (found !== undefined) return found.replace(/\/+$/, '');
  throw usage(
    `Where is the console of ${url}?`,
    'Set GLOVEBOX_CONSOLE_URL; the operator knows it.',
  );
}

/** `npm start` serves the console four ports above. */
function consoleBeside(url: string): string | undefined {
  const { protocol, hostname, port } = new URL(url);
  const isLocal = hostname === '127.0.0.1' || hostname === 'localhost';
  return isLocal && port !== '' ? `${protocol}//${hostname}:${Number(port) + 4}` : undefined;
}
