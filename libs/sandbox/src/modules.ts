/** What code may require by name, beside the error classes: of Node's modules, and no package. */
const builtins: ReadonlySet<string> = new Set(
  (
    'assert assert/strict buffer crypto dns dns/promises events http https net os path path/posix ' +
    'perf_hooks querystring stream stream/promises string_decoder timers timers/promises tls url ' +
    'util util/types zlib'
  ).split(' '),
);

export const builtinModules: readonly string[] = [...builtins];

export const reactorErrorsModule = '@svc/reactor-errors';

/** The name that Node knows the module by; undefined if sandboxes do not offer it. */
export function builtinOf(name: string): string | undefined {
  const bare = name.replace(/^node:/, '');
  return builtins.has(bare) ? bare : undefined;
}
