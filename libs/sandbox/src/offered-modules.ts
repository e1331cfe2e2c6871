import shipped from './packages.json';

/** The modules of Node that code may require by name. */
export const builtinModules: readonly string[] = (
  'assert assert/strict buffer crypto dns dns/promises events http https net os path path/posix ' +
  'perf_hooks querystring stream stream/promises string_decoder timers timers/promises tls url ' +
  'util util/types zlib'
).split(' ');
const builtins: ReadonlySet<string> = new Set(builtinModules);

/** The packages that every runner has. The build makes one file of each. */
export const shippedPackages: readonly string[] = shipped;

/** Names by which code may require more than the modules of Node. */
export interface OfferedNames {
  /** The error classes. */
  readonly errors: readonly string[];
  readonly packages: readonly string[];
}

/** The check at write and the sandbox both use these names. */
export function offeredNames(settings: {
  readonly REACTOR_ERRORS_ALIASES: readonly string[];
  readonly REACTOR_PACKAGES: readonly string[];
}): OfferedNames {
  return {
    errors: ['@svc/reactor-errors', ...settings.REACTOR_ERRORS_ALIASES],
    packages: [...new Set([...shippedPackages, ...settings.REACTOR_PACKAGES])],
  };
}

type OfferedModule =
  | { readonly kind: 'errors' }
  | { readonly kind: 'builtin' | 'package'; readonly name: string };

/** Returns the module that the name stands for; undefined if sandboxes do not offer it. */
export function moduleOf(name: string, offered: OfferedNames): OfferedModule | undefined {
  if (offered.errors.includes(name)) return { kind: 'errors' };
  const bare = name.replace(/^node:/, '');
  if (builtins.has(bare)) return { kind: 'builtin', name: bare };
  return offered.packages.includes(name) ? { kind: 'package', name } : undefined;
}

/** The text of the error, at write and at run. */
export const unavailable = (name: string): string =>
  `Module '${name.slice(0, 100)}' is not available`;

/** What helps whoever requires a module that is not available. */
export const availablePackages = ({ packages }: Pick<OfferedNames, 'packages'>): string =>
  `Packages that are: ${packages.join(', ')}. Bundle others into the code: docs/guide/code.md#form.`;

/** The file of a package's bundle. A name never holds two underscores in a row. */
export const bundleFileOf = (name: string): string => `${name.replaceAll('/', '__')}.js`;
