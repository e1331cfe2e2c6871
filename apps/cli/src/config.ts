const keyVariables = ['GLOVEBOX_KEY', 'GLOVEBOX_PRIVATE_KEY', 'GLOVEBOX_WEBHOOK_SECRET'];

/** The environment of the program. Programs that it starts inherit no keys. */
export function takeEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of keyVariables) delete process.env[name];
  return env;
}

/** Where `glovebox test` answers its tests. */
export const testSocket = (): string | undefined => process.env.GLOVEBOX_TEST_SOCKET;
