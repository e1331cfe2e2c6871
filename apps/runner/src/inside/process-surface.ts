/**
 * Calls that would end or reshape the process answer with an error instead, so that a mistake in
 * the code says what it is. Whoever wants to can find a way around: the operating system's limits
 * are what holds.
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
  // The bootstrap's own module would hand out an ungated require.
  Object.defineProperty(process, 'mainModule', { configurable: true, value: undefined });
  process.argv.length = 1;
}
