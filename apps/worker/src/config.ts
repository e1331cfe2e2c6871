import {
  egressSettings,
  integer,
  loadConfig,
  processSettings,
  runnerSettings,
  storeSettings,
  type Setting,
} from '@glovebox/service-host';

export const settings = {
  ...processSettings(9082),
  ...storeSettings('glovebox_data'),
  ...runnerSettings,
  ...egressSettings,
  RUN_CONCURRENCY: integer('runs at the same time', 32, { min: 1, max: 1_000 }),
  DELIVERY_CONCURRENCY: integer('webhooks on their way at the same time', 50, {
    min: 1,
    max: 1_000,
  }),
} satisfies Record<string, Setting<unknown>>;

export type WorkerConfig = ReturnType<typeof loadWorkerConfig>;

export const loadWorkerConfig = (env: NodeJS.ProcessEnv) => loadConfig(env, settings);
