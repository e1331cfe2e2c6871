import {
  egressSettings,
  integer,
  loadStoreConfig,
  processSettings,
  runnerSettings,
  storeSettings,
  type Setting,
} from '@glovebox/service-host';

export const settings = {
  ...processSettings(9082),
  ...storeSettings('glovebox_data', 4),
  ...runnerSettings,
  ...egressSettings,
  RUN_CONCURRENCY: integer('runs at the same time', 32, { min: 1, max: 1_000 }),
  DELIVERY_CONCURRENCY: integer('webhooks on their way at the same time', 50, {
    min: 1,
    max: 1_000,
  }),
  RUN_ARGUMENTS_KEPT: integer(
    'hours that the arguments of a failed async run are kept, so that it can be repeated; 0: never',
    24,
    { min: 0, max: 168 },
  ),
  RUN_ARGUMENTS_PER_TENANT: integer(
    'failed runs of a tenant whose arguments are kept, the newest; each takes up to 1 MiB',
    1_000,
    { min: 1, max: 100_000 },
  ),
  RUNS_KEPT_DAYS: integer('days that runs are kept in the log', 30, { min: 1, max: 100 }),
  DELIVERIES_KEPT_DAYS: integer('days that webhooks are kept in the log', 30, {
    min: 1,
    max: 100,
  }),
  CALLS_KEPT_DAYS: integer('days that calls are kept in the log', 7, { min: 1, max: 100 }),
  CALL_SUMMARY_KEPT_DAYS: integer('days that the counts of calls are kept', 30, {
    min: 1,
    max: 400,
  }),
  AUDIT_KEPT_DAYS: integer('days that lines of the audit log are kept', 400, {
    min: 90,
    max: 3_650,
  }),
} satisfies Record<string, Setting<unknown>>;

export type WorkerConfig = ReturnType<typeof loadWorkerConfig>;

export const loadWorkerConfig = (env: NodeJS.ProcessEnv) => loadStoreConfig(env, settings);
