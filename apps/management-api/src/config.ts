import {
  flag,
  integer,
  list,
  loadConfig,
  port,
  requiredSecret,
  stopDelay,
  text,
  type Setting,
} from '@glovebox/service-host';

export const settings = {
  LOG_LEVEL: text('how much is logged: debug, info, warn, error', 'info'),
  HOST: text('the address to listen on; the images set 0.0.0.0', '127.0.0.1'),
  PORT: port('the port of the management API', 8081),
  OPS_PORT: port('health and metrics of this process; not for the public', 9081),
  STOP_DELAY_MS: stopDelay,
  DATABASE_URL: requiredSecret('Postgres, as glovebox_management'),
  DATABASE_CONNECTIONS: integer(
    'connections to Postgres for what tenants ask for; each tenant has a share of them',
    20,
    { min: 2, max: 1_000 },
  ),
  REDIS_URL: requiredSecret('Redis'),
  KEY_RING: requiredSecret('master keys: 1:<base64 of 32 bytes>[,2:…]'),
  HEADER_PREFIXES: list(
    'prefixes of the service headers and of the query parameter; further ones are aliases',
    ['SVC'],
  ),
  REACTOR_ERRORS_ALIASES: list(
    'more names that code may require the error classes by, beside @svc/reactor-errors',
    ['@basis-theory/basis-theory-reactor-formulas-sdk-js'],
  ),
  EGRESS_ALLOW: list(
    'addresses that may be reached although not public: ip:port or cidr:port, * for any port',
    [],
  ),
  EGRESS_ALLOW_HTTP: flag('plain http to any public address', false),
  EGRESS_OWN_SERVICES: list('addresses that are refused whatever EGRESS_ALLOW says', []),
  DEFINITIONS_PER_TENANT: integer(
    'applications, formulas, reactors and proxies that one tenant may have in all',
    50_000,
    { min: 10, max: 10_000_000 },
  ),
  DEFINITION_BYTES_PER_TENANT: integer(
    'bytes that they may take in all, sealed; each process holds them in memory',
    32 * 1024 * 1024,
    { min: 100_000, max: 10_000_000_000 },
  ),
  RATE_LIMIT_PER_MINUTE: integer('calls that one API key may make in a minute; 0 is no limit', 0, {
    min: 0,
    max: 1_000_000,
  }),
} satisfies Record<string, Setting<unknown>>;

export type ManagementConfig = ReturnType<typeof loadManagementConfig>;

export const loadManagementConfig = (env: NodeJS.ProcessEnv) => loadConfig(env, settings);

export type RotationConfig = ReturnType<typeof loadRotationConfig>;

export const loadRotationConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, {
    DATABASE_URL: requiredSecret('Postgres, as glovebox_rotation'),
    REDIS_URL: requiredSecret('Redis'),
    KEY_RING: requiredSecret('master keys, the one to come among them'),
  });

export const loadMigrationConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, {
    DATABASE_URL: requiredSecret('Postgres, as the role that owns the tables'),
  });

export const loadRolesConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, {
    ADMIN_DATABASE_URL: requiredSecret('Postgres, as a role that may create roles'),
    OWNER_PASSWORD: requiredSecret('password of glovebox_owner'),
    MANAGEMENT_PASSWORD: requiredSecret('password of glovebox_management'),
    DATA_PASSWORD: requiredSecret('password of glovebox_data'),
    ROTATION_PASSWORD: requiredSecret('password of glovebox_rotation'),
  });
