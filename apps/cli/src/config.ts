const keyVariables = ['GLOVEBOX_KEY', 'GLOVEBOX_PRIVATE_KEY', 'GLOVEBOX_WEBHOOK_SECRET'];

/** The environment of the program. Programs that it starts inherit no keys. */
export function takeEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of keyVariables) delete process.env[name];
  return env;
}

/** Windows does not tell the cases of names apart. */
export const isKeyVariable = (
  name: string,
  platform: NodeJS.Platform = process.platform,
): boolean => keyVariables.includes(platform === 'win32' ? name.toUpperCase() : name);

/** Programs get no keys of their author either. */
export const withoutKeys = (
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isKeyVariable(name, platform)));

/** Where `glovebox test` answers its tests. */
export const testSocket = (): string | undefined => process.env.GLOVEBOX_TEST_SOCKET;
