const keyVariables = ['GLOVEBOX_KEY', 'GLOVEBOX_PRIVATE_KEY', 'GLOVEBOX_WEBHOOK_SECRET'];

/** The environment of the program. Programs that it starts inherit no keys. */
export function takeEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of keyVariables) delete process.env[name];
  return env;
}

/** Programs get no keys of their author either. Windows does not tell the cases of names apart. */
export function withoutKeys(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const isKey = (name: string): boolean =>
    keyVariables.includes(platform === 'win32' ? name.toUpperCase() : name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isKey(name)));
}

/** Where `glovebox test` answers its tests. */
export const testSocket = (): string | undefined => process.env.GLOVEBOX_TEST_SOCKET;
