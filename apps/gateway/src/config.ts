import {
  flag,
  integer,
  list,
  loadConfig,
  optionalUrl,
  port,
  requiredList,
  requiredSecret,
  stopDelay,
  text,
  type Setting,
} from '@glovebox/service-host';

export const settings = {
  LOG_LEVEL: text('how much is logged: debug, info, warn, error', 'info'),
  HOST: text('the address to listen on; the images set 0.0.0.0', '127.0.0.1'),
  PORT: port('the port of the public base URL', 8080),
  OPS_PORT: port('health and metrics of this process; not for the public', 9080),
  STOP_DELAY_MS: stopDelay,
  ACCESS_LOG: flag('one line per call on standard output', false),
  TRACE_OTLP_URL: optionalUrl(
    'a collector of traces, OTLP over HTTP in JSON; /v1/traces is added to an address without a path',
  ),
  TRACE_SAMPLE_PERCENT: integer(
    'of the calls without a traceparent, which decides for itself, how many are traced',
    100,
    { min: 0, max: 100 },
  ),
  DATABASE_URL: requiredSecret('Postgres, as glovebox_data'),
  DATABASE_CONNECTIONS: integer(
    'connections to Postgres for what tenants ask for; each tenant has a share of them',
    20,
    { min: 2, max: 1_000 },
  ),
  REDIS_URL: requiredSecret('Redis'),
  POSTGRES_AWAY_MAX_MS: integer(
    'how long calls without expressions go on while Postgres refuses connections; 0: one second',
    3_600_000,
    { min: 0, max: 86_400_000 },
  ),
  KEY_RING: requiredSecret('master keys: 1:<base64 of 32 bytes>[,2:…]'),
  MANAGEMENT_URL: text('where the management API listens', 'http://127.0.0.1:8081'),
  MANAGEMENT_TIMEOUT_MS: integer('how long the management API may be silent', 30_000, {
    min: 100,
    max: 300_000,
  }),
  HEADERS_TIMEOUT_MS: integer('how long a caller may take to send its headers', 20_000, {
    min: 100,
    max: 300_000,
  }),
  REQUEST_TIMEOUT_MS: integer(
    'how long it may take to send a whole request, unless its body is streamed to a destination',
    300_000,
    { min: 100, max: 3_600_000 },
  ),
  RUNNER_URLS: requiredList('runners: unix:/path or tcp://host:port'),
  RUNNER_SECRET: requiredSecret('what this process proves itself to a runner with'),
  HEADER_PREFIXES: list(
    'prefixes of the service headers and of the query parameter; further ones are aliases',
    ['SVC'],
  ),
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
  PROXY_BUFFER_MAX: integer(
    'bytes of a JSON, form or text body that is read whole for expressions; a larger one is streamed',
    1_048_576,
    {
      min: 1_024,
      max: 10_485_760,
    },
  ),
  DESTINATIONS_MAX: integer(
    'destinations that connections are kept for, shared out between tenants',
    5_000,
    { min: 1, max: 1_000_000 },
  ),
  DESTINATION_CONNECTIONS_MAX: integer(
    'connections to destinations, shared out between tenants',
    8_192,
    { min: 1, max: 1_000_000 },
  ),
  CALLS_MAX: integer('calls under way in this process; one tenant gets at most half', 4_096, {
    min: 2,
    max: 65_536,
  }),
  CALLS_PER_KEY_MAX: integer(
    'of those, calls of one application, or through one proxy without an API key',
    1_024,
    { min: 1, max: 65_536 },
  ),
  BUFFERED_BYTES_MAX: integer(
    'bytes of bodies and values that calls keep in memory; one tenant gets at most half',
    268_435_456,
    { min: 33_554_432, max: 8_589_934_592 },
  ),
  DESTINATION_CALLS_MAX: integer(
    'calls under way to one destination of a tenant; above it 503 destination_busy',
    1_024,
    { min: 1, max: 65_536 },
  ),
  BODY_IDLE_MS: integer('how long the body of a request or of its answer may stand still', 30_000, {
    min: 100,
    max: 600_000,
  }),
  RUNS_PENDING_MAX: integer(
    'async runs and webhooks of a tenant that wait; above it 429 share_exhausted',
    10_000,
    { min: 1, max: 1_000_000 },
  ),
  REACTOR_SYNC_TIMEOUT_MS: integer('how long a sync run may take', 10_000, {
    min: 100,
    max: 210_000,
  }),
} satisfies Record<string, Setting<unknown>>;

export type GatewayConfig = ReturnType<typeof loadGatewayConfig>;

export const loadGatewayConfig = (env: NodeJS.ProcessEnv) => loadConfig(env, settings);
