/**
 * Calls that would end or reshape the process throw instead, so that a mistake in the code explains
 * itself. This is no protection, as code can find a way around it. The operating system's limits
 * are.
 */
const withdrawn = [
  ...['abort', 'binding', 'chdir', 'dlopen', 'exit', 'initgroups', 'kill', 'reallyExit'],
  ...[
    'getBuiltinModule',
    'setegid',
    'seteuid',
    'setgid',
    'setgroups',
    'setuid',
    'umask',
    '_debugEnd',
  ],
  ...['_debugProcess', '_kill', '_linkedBinding', '_startProfilerIdleNotifier'],
];

export function withdrawProcessControls(): void {
  for (const name of withdrawn) {
    Object.defineProperty(process, name, {
      configurable: true,
      value: () => {
        throw new Error(`process.${name} is not available`);
      },
    });
  }
  // The bootstrap's own module would give the code an unrestricted require.
  Object.defineProperty(process, 'mainModule', { configurable: true, value: undefined });
  process.argv.length = 1;
}
