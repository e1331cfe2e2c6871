import {
  flag,
  integer,
  list,
  loadConfig,
  port,
  requiredList,
  requiredSecret,
  text,
  type Setting,
} from '@glovebox/service-host';

export const settings = {
  LOG_LEVEL: text('how much is logged: debug, info, warn, error', 'info'),
  HOST: text('the address to listen on; the images set 0.0.0.0', '127.0.0.1'),
  OPS_PORT: port('health and metrics of this process; not for the public', 9082),
  DATABASE_URL: requiredSecret('Postgres, as glovebox_data'),
  DATABASE_CONNECTIONS: integer(
    'connections to Postgres for what tenants ask for; each tenant has a share of them',
    20,
    { min: 2, max: 1_000 },
  ),
  REDIS_URL: requiredSecret('Redis'),
  KEY_RING: requiredSecret('master keys: 1:<base64 of 32 bytes>[,2:…]'),
  RUNNER_URLS: requiredList('runners: unix:/path or tcp://host:port'),
  RUNNER_SECRET: requiredSecret('what this process proves itself to a runner with'),
  EGRESS_ALLOW: list(
    'addresses that may be reached although not public: ip:port or cidr:port, * for any port',
    [],
  ),
  EGRESS_ALLOW_HTTP: flag('plain http to any public address', false),
  EGRESS_DNS: list(
    'resolvers to ask instead of those of the system, its /etc/hosts and its search domains',
    [],
  ),
  EGRESS_LOOKUPS_MAX: integer('look-ups of names under way, shared out between tenants', 256, {
    min: 1,
    max: 4_096,
  }),
  EGRESS_OWN_SERVICES: list('addresses that are refused whatever EGRESS_ALLOW says', []),
  RUN_CONCURRENCY: integer('runs at the same time', 32, { min: 1, max: 1_000 }),
  DELIVERY_CONCURRENCY: integer('webhooks on their way at the same time', 50, {
    min: 1,
    max: 1_000,
  }),
} satisfies Record<string, Setting<unknown>>;

export type WorkerConfig = ReturnType<typeof loadWorkerConfig>;

export const loadWorkerConfig = (env: NodeJS.ProcessEnv) => loadConfig(env, settings);
