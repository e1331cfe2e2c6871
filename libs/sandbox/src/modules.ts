/** The modules of Node that code may require by name. Packages are not among them. */
export const builtinModules: readonly string[] = (
  'assert assert/strict buffer crypto dns dns/promises events http https net os path path/posix ' +
  'perf_hooks querystring stream stream/promises string_decoder timers timers/promises tls url ' +
  'util util/types zlib'
).split(' ');
const builtins: ReadonlySet<string> = new Set(builtinModules);

export const reactorErrorsModule = '@svc/reactor-errors';

/** Returns Node's name of a module; undefined if sandboxes do not offer it. */
export function builtinOf(name: string): string | undefined {
  const bare = name.replace(/^node:/, '');
  return builtins.has(bare) ? bare : undefined;
}
