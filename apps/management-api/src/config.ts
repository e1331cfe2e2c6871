import {
  answerSettings,
  ConfigError,
  destinationSettings,
  headerSettings,
  integer,
  list,
  loadConfig,
  loadStoreConfig,
  moduleSettings,
  optionalPort,
  optionalSecret,
  optionalText,
  optionalUrl,
  pendingSettings,
  port,
  postgresSettings,
  redisSettings,
  requiredSecret,
  servingSettings,
  storeSettings,
  text,
  type Setting,
} from '@glovebox/service-host';
import { oidcRoles } from './console/oidc-roles';

export const settings = {
  ...servingSettings({ port: port('the port of the management API', 8081), opsPort: 9081 }),
  ...storeSettings('glovebox_management', 6),
  SEARCH_CONNECTIONS: integer(
    'further connections to Postgres, half for lists of tokens and half for searches',
    6,
    { min: 2, max: 1_000 },
  ),
  GATEWAY_URL: text('where a gateway listens, which carries out dry runs', 'http://127.0.0.1:8080'),
  CONSOLE_PORT: optionalPort(
    'the port of the console, an origin of its own with its sessions; unset: there is no console',
  ),
  CONSOLE_URL: optionalUrl(
    'where browsers reach the console, such as https://console.example.com; it always answers under 127.0.0.1 and localhost',
  ),
  CONSOLE_TRUSTED_HOPS: integer(
    'proxies in front of the console that append to X-Forwarded-For; 0: browsers connect themselves',
    0,
    { min: 0, max: 10 },
  ),
  CONSOLE_FILES: optionalText('the folder of the built page, if it is not ../console of the app'),
  OIDC_ISSUER: optionalUrl('people sign in to the console at this OpenID provider'),
  OIDC_CLIENT_ID: optionalText('the client of the console there'),
  OIDC_CLIENT_SECRET: optionalSecret('its secret'),
  OIDC_SCOPE: text('the scopes that it asks for', 'openid profile'),
  OIDC_CLAIM: text('the claim whose values OIDC_ROLES lists', 'groups'),
  OIDC_ROLES: oidcRoles,
  OIDC_ALLOW: list(
    'addresses of the provider that may be reached although not public, in the form of EGRESS_ALLOW, for signing in alone',
    [],
  ),
  ...headerSettings,
  ...moduleSettings,
  ...destinationSettings,
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
  ...answerSettings,
  ...pendingSettings,
  RATE_LIMIT_PER_MINUTE: integer('calls that one API key may make in a minute; 0 is no limit', 0, {
    min: 0,
    max: 1_000_000,
  }),
} satisfies Record<string, Setting<unknown>>;

export type ManagementConfig = ReturnType<typeof loadManagementConfig>;

export function loadManagementConfig(env: NodeJS.ProcessEnv) {
  const config = loadStoreConfig(env, settings);
  const client = [config.OIDC_ISSUER, config.OIDC_CLIENT_ID, config.OIDC_CLIENT_SECRET];
  if (new Set(client.map((each) => each === undefined)).size > 1) {
    throw new ConfigError(['OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET belong together']);
  }
  return config;
}

export type RotationConfig = ReturnType<typeof loadRotationConfig>;

export const loadRotationConfig = (env: NodeJS.ProcessEnv) =>
  loadStoreConfig(env, {
    ...postgresSettings('glovebox_rotation'),
    ...redisSettings,
    KEY_RING: requiredSecret('master keys, the one to come among them'),
  });

export type RestoreConfig = ReturnType<typeof loadRestoreConfig>;

export const loadRestoreConfig = (env: NodeJS.ProcessEnv) =>
  loadStoreConfig(env, {
    ...postgresSettings('the role that owns the tables'),
    ...redisSettings,
    KEY_RING: requiredSecret('master keys'),
  });

export const loadMigrationConfig = (env: NodeJS.ProcessEnv) =>
  loadStoreConfig(env, postgresSettings('the role that owns the tables'));

export const loadRolesConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, {
    ADMIN_DATABASE_URL: requiredSecret('Postgres, as a role that may create roles'),
    OWNER_PASSWORD: requiredSecret('password of glovebox_owner'),
    MANAGEMENT_PASSWORD: requiredSecret('password of glovebox_management'),
    DATA_PASSWORD: requiredSecret('password of glovebox_data'),
    ROTATION_PASSWORD: requiredSecret('password of glovebox_rotation'),
  });
