import {
  answerSettings,
  egressSettings,
  flag,
  headerSettings,
  integer,
  loadStoreConfig,
  optionalPort,
  optionalUrl,
  pendingSettings,
  port,
  runnerSettings,
  servingSettings,
  storeSettings,
  text,
  type Setting,
} from '@glovebox/service-host';

export const settings = {
  ...servingSettings({ port: port('the port of the public base URL', 8080), opsPort: 9080 }),
  FORWARD_PORT: optionalPort(
    'the port of forward mode, which clients use as their HTTP proxy (docs/forward.md); unset: there is none',
  ),
  FORWARD_TUNNELS_MAX: integer(
    'tunnels of forward mode in this process; one tenant gets at most half',
    4_096,
    { min: 2, max: 65_536 },
  ),
  FORWARD_CERTIFICATES_MAX: integer(
    'certificates of hosts that forward mode keeps with their TLS contexts; one tenant gets at most half',
    4_096,
    { min: 2, max: 65_536 },
  ),
  FORWARD_IDLE_MS: integer('how long a tunnel whose bytes pass unread may carry nothing', 300_000, {
    min: 100,
    max: 3_600_000,
  }),
  ACCESS_LOG: flag('one line per call on standard output', false),
  TRACE_OTLP_URL: optionalUrl(
    'a collector of traces, OTLP over HTTP in JSON; /v1/traces is added to an address without a path',
  ),
  TRACE_SAMPLE_PERCENT: integer(
    'percentage of calls without a traceparent that are traced; a traceparent decides for itself',
    100,
    { min: 0, max: 100 },
  ),
  ...storeSettings('glovebox_data', 5),
  POSTGRES_AWAY_MAX_MS: integer(
    'how long calls without expressions go on while Postgres refuses connections; 0: one second',
    3_600_000,
    { min: 0, max: 86_400_000 },
  ),
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
    'how long a caller may take to send a whole request, unless its body is streamed to a destination',
    300_000,
    { min: 100, max: 3_600_000 },
  ),
  ...runnerSettings,
  ...headerSettings,
  ...egressSettings,
  PROXY_BUFFER_MAX: integer(
    'bytes of a body that is read whole for expressions; a larger one is streamed',
    1_048_576,
    {
      min: 1_024,
      max: 10_485_760,
    },
  ),
  DESTINATIONS_MAX: integer(
    'destinations with kept connections, shared out between tenants',
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
    'calls under way of one application, or through one proxy without an API key',
    1_024,
    { min: 1, max: 65_536 },
  ),
  CALL_RATE_PER_MINUTE: integer(
    'calls of reactors and proxies by one API key in a minute, over all gateways; 0: no limit',
    0,
    { min: 0, max: 10_000_000 },
  ),
  ANONYMOUS_CALL_RATE_PER_MINUTE: integer(
    'calls without an API key through one proxy from one address in a minute; 0: no limit',
    0,
    { min: 0, max: 10_000_000 },
  ),
  TRUSTED_HOPS: integer(
    'proxies in front of the gateway that append to X-Forwarded-For; 0: callers connect themselves',
    0,
    { min: 0, max: 10 },
  ),
  BUFFERED_BYTES_MAX: integer(
    'bytes of bodies and values that calls keep in memory; one tenant gets at most half',
    268_435_456,
    { min: 33_554_432, max: 8_589_934_592 },
  ),
  DRY_RUNS_MAX: integer('dry runs under way in this process; one tenant gets at most two', 8, {
    min: 2,
    max: 1_024,
  }),
  DESTINATION_CALLS_MAX: integer(
    'calls under way to one destination of a tenant; above it 503 destination_busy',
    1_024,
    { min: 1, max: 65_536 },
  ),
  BODY_IDLE_MS: integer('how long the body of a request or of its answer may stall', 30_000, {
    min: 100,
    max: 600_000,
  }),
  ...answerSettings,
  ...pendingSettings,
  OUTCOME_BYTES_PER_TENANT: integer(
    'bytes of outcomes of runs kept for a tenant for 24 hours; above it 429 share_exhausted',
    1_073_741_824,
    { min: 1_048_576, max: 1_099_511_627_776 },
  ),
  REACTOR_SYNC_TIMEOUT_MS: integer('how long a sync run may take', 10_000, {
    min: 100,
    max: 210_000,
  }),
} satisfies Record<string, Setting<unknown>>;

export type GatewayConfig = ReturnType<typeof loadGatewayConfig>;

export const loadGatewayConfig = (env: NodeJS.ProcessEnv) => loadStoreConfig(env, settings);
