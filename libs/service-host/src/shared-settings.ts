import {
  flag,
  integer,
  list,
  optionalSecret,
  port,
  requiredList,
  requiredSecret,
  text,
} from './config';
import type { Setting } from './config';

const listening = {
  LOG_LEVEL: text('how much is logged: debug, info, warn, error', 'info'),
  HOST: text('the address to listen on; the images set 0.0.0.0', '127.0.0.1'),
};
const opsPortOf = (fallback: number): Setting<number> =>
  port('health and metrics of this process; not for the public', fallback);

/** Settings of every process. */
export const processSettings = (opsPort: number) => ({
  ...listening,
  OPS_PORT: opsPortOf(opsPort),
});

/** Settings of a process that balancers send calls to. */
export const servingSettings = ({ port, opsPort }: { port: Setting<number>; opsPort: number }) => ({
  ...listening,
  PORT: port,
  OPS_PORT: opsPortOf(opsPort),
  STOP_DELAY_MS: integer(
    'how long calls are still taken once the process has been told to end and says it is not ready',
    0,
    { min: 0, max: 60_000 },
  ),
});

/** Where Redis is. */
export const redisSettings = {
  REDIS_URL: requiredSecret(
    'Redis; with REDIS_SENTINELS its login, its database and whether TLS is used',
  ),
  REDIS_SENTINELS: list(
    'host:port of each Redis Sentinel; they tell which Redis is the primary',
    [],
  ),
  REDIS_SENTINEL_MASTER: text('the name under which the sentinels watch it', 'mymaster'),
  REDIS_SENTINEL_PASSWORD: optionalSecret('the password of the sentinels'),
};

/** Settings of a process that reads and writes Postgres and Redis and holds the key ring. */
export const storeSettings = (role: string) => ({
  DATABASE_URL: requiredSecret(`Postgres, as ${role}`),
  DATABASE_CONNECTIONS: integer(
    'connections to Postgres for what tenants ask for; each tenant has a share of them',
    20,
    { min: 2, max: 1_000 },
  ),
  ...redisSettings,
  KEY_RING: requiredSecret('master keys: 1:<base64 of 32 bytes>[,2:…]'),
});

/** Settings of a process that has code run. */
export const runnerSettings = {
  RUNNER_URLS: requiredList('runners: unix:/path, or tcp://host:port for TLS'),
  RUNNER_SECRET: requiredSecret(
    'what this process and a runner prove themselves to each other with; 32 random characters or more for tcp://',
  ),
};

const allowed = {
  EGRESS_ALLOW: list(
    'addresses that may be reached although not public: ip:port or cidr:port, * for any port',
    [],
  ),
  EGRESS_ALLOW_HTTP: flag('plain http to any public address', false),
};
const refused = {
  EGRESS_OWN_SERVICES: list('addresses that are refused whatever EGRESS_ALLOW says', []),
};

/** Settings of a process that judges destinations and connects to none. */
export const destinationSettings = { ...allowed, ...refused };

/** Settings of a process that connects to destinations. */
export const egressSettings = {
  ...allowed,
  EGRESS_DNS: list(
    'resolvers to ask instead of those of the system, its /etc/hosts and its search domains',
    [],
  ),
  EGRESS_LOOKUPS_MAX: integer('look-ups of names under way, shared out between tenants', 256, {
    min: 1,
    max: 4_096,
  }),
  ...refused,
};

/** Settings of a process that reads service headers. */
export const headerSettings = {
  HEADER_PREFIXES: list(
    'prefixes of the service headers and of the query parameter; further ones are aliases',
    ['SVC'],
  ),
};

const packageNames = list(
  'more packages that code may require, beside those shipped; each runner needs a file of each in RUNNER_PACKAGES_DIR',
  [],
);

/** Settings of a process that says which modules code may require. */
export const moduleSettings = {
  REACTOR_ERRORS_ALIASES: list(
    'more names that code may require the error classes by, beside @svc/reactor-errors',
    ['@basis-theory/basis-theory-reactor-formulas-sdk-js'],
  ),
  REACTOR_PACKAGES: {
    ...packageNames,
    parse: (value: string) => packageNames.parse(value).map(packageName),
  },
};

/** A file is named for its package, with `__` for each slash. */
function packageName(name: string): string {
  if (/^(?:@[\w.-]+\/)?\w[\w.-]*(?:\/[\w.-]+)*$/.test(name) && !name.includes('__')) return name;
  throw new Error(`"${name}" is not the name of a package`);
}

/** Settings of a process that adds to what waits of a tenant. */
export const pendingSettings = {
  RUNS_PENDING_MAX: integer(
    'waiting async runs and webhooks of a tenant; above it 429 share_exhausted',
    10_000,
    { min: 1, max: 1_000_000 },
  ),
};

/** Settings of a process that writes answers as their callers read them. */
export const answerSettings = {
  ANSWER_IDLE_MS: integer(
    'how long a caller may take nothing of an answer that is made here',
    30_000,
    { min: 100, max: 600_000 },
  ),
  ANSWER_WHOLE_MS: integer(
    'how long a caller may take to read such an answer to its end',
    120_000,
    { min: 100, max: 3_600_000 },
  ),
};
