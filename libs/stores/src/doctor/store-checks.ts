import type { Redis } from 'ioredis';
import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import { parseKeyRing } from '@glovebox/seal';
import {
  fault,
  ok,
  restoredDatabase,
  unknown,
  warning,
  type Check,
  type Finding,
  type Secret,
} from '@glovebox/service-host';
import { connectRedis, StoreNotTrusted, withoutLogin, type RedisPlace } from '@glovebox/store-urls';
import { liveProcesses, type LiveProcess } from '../live-processes';
import { judgeSchema } from '../schema-watch';

interface StoreConfig extends RedisPlace {
  readonly DATABASE_URL: Secret;
  readonly KEY_RING: Secret;
}

export interface StoreChecks {
  readonly checks: readonly Check[];
  close(): Promise<void>;
}

const apart = {
  postgres: 'Postgres does not answer',
  redis: 'Redis does not answer',
};

/** The checks of an app that connects to Postgres and Redis and holds the key ring. */
export function checkStores(app: string, config: StoreConfig): StoreChecks {
  const databaseUrl = config.DATABASE_URL.reveal();
  const redisUrl = config.REDIS_URL.reveal();
  const sql = connectDatabase({
    url: databaseUrl,
    app: `${app}-doctor`,
    connectionsMax: 1,
    statementTimeoutMs: 4_000,
  });
  let redisFault: unknown;
  const redis = connectRedis(
    config,
    {
      lazyConnect: true,
      connectTimeout: 3_000,
      commandTimeout: 3_000,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    },
    (error) => (redisFault = error),
  );
  const postgresAnswers = sql.query('SELECT 1');
  const redisAnswers = redis.connect().catch((error: unknown) => {
    throw redisFault ?? error;
  });
  postgresAnswers.catch(() => undefined);
  redisAnswers.catch(() => undefined);

  const ofPostgres = (name: string, run: (sql: Database) => Promise<Finding>): Check => ({
    name,
    run: () =>
      postgresAnswers.then(
        () => run(sql),
        () => unknown(apart.postgres),
      ),
  });
  const ofRedis = (name: string, run: (redis: Redis) => Promise<Finding>): Check => ({
    name,
    run: () =>
      redisAnswers.then(
        () => run(redis),
        () => unknown(apart.redis),
      ),
  });
  /** Redis may be lost, so that what it tells of processes is no condition. Undefined: it does not answer. */
  const processes = (): Promise<readonly LiveProcess[] | undefined> =>
    redisAnswers.then(() => liveProcesses(redis)).catch(() => undefined);

  const place = { postgres: withoutLogin(databaseUrl), redis: withoutLogin(redisUrl) };
  return {
    checks: [
      {
        name: 'Postgres',
        run: () =>
          postgresAnswers.then(
            () => findPostgres(sql, place.postgres),
            (error: unknown) =>
              fault(
                `${place.postgres}: ${reasonOf(error)}`,
                'Check that Postgres runs, DATABASE_URL, and that the network lets this app through',
              ),
          ),
      },
      ofPostgres('schema', findSchema),
      ofPostgres('clock of Postgres', findPostgresClock),
      ofPostgres('connections', async () => findConnections(sql, await processes())),
      ofPostgres('key ring', () => findKeys(sql, config.KEY_RING.reveal())),
      ofPostgres('definitions', async () => findDefinitions(sql, await processes())),
      {
        name: 'Redis',
        run: () =>
          redisAnswers.then(
            () => findRedis(redis, place.redis),
            (error: unknown) =>
              fault(
                `${place.redis}: ${reasonOf(error)}`,
                'Check that Redis runs, REDIS_URL, and that the network lets this app through',
              ),
          ),
      },
      ofRedis('policy of Redis', findPolicy),
      ofRedis('clock of Redis', findRedisClock),
      ofRedis('processes', async () => findReleases(await liveProcesses(redis))),
    ],
    async close() {
      redis.disconnect();
      await sql.close();
    },
  };
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection is refused',
  ENOTFOUND: 'the name does not exist',
  EAI_AGAIN: 'the name cannot be looked up',
  ETIMEDOUT: 'no answer in time',
  EHOSTUNREACH: 'there is no route to the host',
  '28P01': 'the password is refused',
  '28000': 'the user is refused',
  '3D000': 'there is no such database',
  '53300': 'there is no connection left',
  '57P03': 'the server is starting or stopping',
};

/** The text of a driver is not shown: it may hold what was sent. */
function reasonOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: unknown; message?: unknown };
  if (error instanceof StoreNotTrusted) return error.reason;
  // Its cause says only that the connection ended.
  if (/timeout/.test(String(message))) return 'no answer in time';
  if (cause instanceof Error) return reasonOf(cause);
  if (typeof message === 'string' && /^(?:WRONGPASS|NOAUTH|ERR invalid password)/.test(message)) {
    return 'user or password are refused';
  }
  if (typeof code === 'string') return reasons[code] ?? code;
  return /timed out/.test(String(message)) ? 'no answer in time' : 'no connection';
}

const postgresOldest = 16;

async function findPostgres(sql: Database, place: string): Promise<Finding> {
  const [row] = await sql.query<{
    version: number;
    role: string;
    strong: boolean;
    standby: boolean;
  }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, current_user AS role,
       rolsuper OR rolbypassrls OR EXISTS (
         SELECT 1 FROM pg_class WHERE relname = 'definition_head' AND relowner = pg_roles.oid
       ) AS strong,
       pg_is_in_recovery() AS standby
     FROM pg_roles WHERE rolname = current_user`,
  );
  const { version = 0, role = '?', strong, standby } = row ?? {};
  const says = `Postgres ${version} at ${place}, as ${role}`;
  if (standby) {
    return fault(`${says}: a standby, which takes no writes`, 'Let DATABASE_URL name the primary');
  }
  if (strong) {
    return fault(
      `${says}: this role passes row-level security by`,
      'Let DATABASE_URL name glovebox_management or glovebox_data; roles.main.js makes them',
    );
  }
  return version < postgresOldest
    ? fault(`${says}: too old`, `Use Postgres ${postgresOldest} or newer`)
    : ok(says);
}

async function findSchema(sql: Database): Promise<Finding> {
  const { state, remedy } = await judgeSchema(sql);
  return remedy === undefined ? ok('all that this release needs is there') : fault(state, remedy);
}

async function findPostgresClock(sql: Database): Promise<Finding> {
  return clockFinding(async () => {
    const [row] = await sql.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return row?.now.getTime() ?? 0;
  });
}

const findRedisClock = (redis: Redis): Promise<Finding> =>
  clockFinding(async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  });

const clockWarnMs = 1_000;
const clockFaultMs = 30_000;

/** The other clock was read at some moment between the question and the answer. */
async function clockFinding(read: () => Promise<number>): Promise<Finding> {
  const asked = Date.now();
  const there = await read();
  const answered = Date.now();
  const difference = there < asked ? asked - there : Math.max(0, there - answered);
  const says = `${(difference / 1_000).toFixed(1)} s apart from this machine`;
  const remedy = 'Let both machines follow the same time server';
  if (difference > clockFaultMs) return fault(says, remedy);
  return difference > clockWarnMs ? warning(says, remedy) : ok(says);
}

const processesUnknown = 'which processes there are is not known, because Redis does not answer';

/** Connections of roles that are not ours may be as many as these are few. */
async function findConnections(
  sql: Database,
  processes: readonly LiveProcess[] | undefined,
): Promise<Finding> {
  const [row] = await sql.query<{ most: number; used: number }>(
    `SELECT current_setting('max_connections')::int
         - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true)::int, 0) AS most,
       (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`,
  );
  const { most = 0, used = 0 } = row ?? {};
  const open = `${used} of ${most} are open`;
  if (!processes) return ok(`${open}; ${processesUnknown}`);
  const wanted = processes.reduce((sum, { connections }) => sum + connections, 0);
  // A rolling restart has one more of each app.
  const apps = new Map(processes.map(({ app, connections }) => [app, connections]));
  const surge = [...apps.values()].reduce((sum, connections) => sum + connections, 0);
  const says =
    `${open}; ${processes.length} processes may open ${wanted}, ` +
    `${wanted + surge} while one more of each app starts`;
  const remedy =
    'Raise max_connections of Postgres, or lower DATABASE_CONNECTIONS or the number of replicas';
  if (wanted > most) return fault(says, remedy);
  return wanted + surge > most ? warning(says, remedy) : ok(says);
}

async function findKeys(sql: Database, text: string): Promise<Finding> {
  const ring = parseKeyRing(text);
  const keys = dataKeyTable(sql);
  const [sealed] = await sql.query('SELECT 1 FROM data_keys LIMIT 1');
  if (!sealed) return ok('nothing is sealed yet');
  const sealing = await keys.sealingVersion(ring.newestVersion);
  const versions = [...new Set([...ring.versions, ...range(sealing)])].sort((a, b) => a - b);
  const needed = await keys.neededOf(versions);
  const missing = [...new Set([...needed, sealing])].filter((one) => !ring.versions.has(one));
  const spare = [...ring.versions].filter((one) => one < sealing && !needed.includes(one));
  const says = `version ${sealing} seals, data needs ${needed.join(', ') || 'none'}`;
  if (missing.length > 0) {
    return fault(
      `${says}; the ring lacks ${missing.join(', ')}`,
      'Give this app the whole key ring (KEY_RING) and restart it',
    );
  }
  return spare.length > 0
    ? ok(`${says}; ${spare.join(', ')} may be spare: keys-rotate.main.js --status says so`)
    : ok(says);
}

/** A ring of a hundred keys is one of a century: older ones are in the ring, or not asked for. */
const range = (newest: number): number[] =>
  Array.from({ length: Math.min(newest, 100) }, (_, at) => newest - at);

async function findDefinitions(
  sql: Database,
  processes: readonly LiveProcess[] | undefined,
): Promise<Finding> {
  const [head] = await sql.query<{ epoch: string; version: string }>(
    'SELECT epoch, version FROM definition_head',
  );
  if (!head) return fault('the log of definitions has no head', 'Migrate the database');
  const says = `epoch ${head.epoch}, version ${head.version}`;
  if (!processes) return ok(`${says}; ${processesUnknown}`);
  const nameOf = ({ app, host, pid }: LiveProcess): string => `${app} ${host}/${pid}`;
  const waiting = processes.filter(({ loading = '' }) => restoredDatabase.isSaidIn(loading));
  if (waiting.length > 0) {
    const names = waiting.map(nameOf).join(', ');
    return fault(`${says}; restored: ${names} wait for after-restore`, restoredDatabase.remedy);
  }
  const others = processes.filter(({ epoch }) => epoch !== undefined && epoch !== head.epoch);
  if (others.length > 0) {
    return fault(
      `${says}; of another epoch: ${others.map(nameOf).join(', ')}`,
      'These processes follow another database: compare their DATABASE_URL, or restart them',
    );
  }
  const late = processes.filter(({ toldMs, behind }) => toldMs > 1_000 || behind > 0);
  if (late.length > 0) {
    const each = late.map((one) => `${nameOf(one)} ${one.toldMs} ms, ${one.behind} behind`);
    return warning(
      `${says}; late: ${each.join(', ')}`,
      'Look whether these processes reach Postgres: docs/operating.md, GloveboxDefinitionsOld',
    );
  }
  const oldest = Math.max(0, ...processes.map(({ toldMs }) => toldMs));
  return ok(`${says}; ${processes.length} processes follow it, at most ${oldest} ms late`);
}

const redisOldest = 7;

async function findRedis(redis: Redis, place: string): Promise<Finding> {
  const version = valueIn(await redis.info('server'), 'redis_version') ?? '?';
  const says = `Redis ${version} at ${place}`;
  return Number.parseInt(version, 10) < redisOldest
    ? warning(`${says}: older than any that is tried`, `Use Redis ${redisOldest} or newer`)
    : ok(says);
}

async function findPolicy(redis: Redis): Promise<Finding> {
  const [memory, persistence] = await Promise.all([
    redis.info('memory'),
    redis.info('persistence'),
  ]);
  const policy = valueIn(memory, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    return fault(
      `maxmemory-policy is ${policy}: reminders of runs are lost silently`,
      'Set maxmemory-policy noeviction, in redis.conf or in the parameters of the managed Redis',
    );
  }
  const says = `maxmemory-policy ${policy ?? 'is not told'}`;
  if (valueIn(persistence, 'aof_enabled') === '1') return ok(`${says}, append-only file`);
  return warning(
    `${says}, no append-only file: after a restart Redis may be empty`,
    'Nothing is lost with it, but all definitions are read from Postgres then: set appendonly yes',
  );
}

const valueIn = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];

function findReleases(processes: readonly LiveProcess[]): Finding {
  const builds = new Map<string, string[]>();
  for (const { app, version, commit, node } of processes) {
    const build = `${version} (${commit.slice(0, 12)}) on Node.js ${node}`;
    builds.set(build, [...(builds.get(build) ?? []), app]);
  }
  const says = [...builds].map(([build, apps]) => `${build}: ${counted(apps)}`).join('; ');
  const missing = ['gateway', 'management-api', 'worker'].filter(
    (app) => !processes.some((one) => one.app === app),
  );
  if (missing.length > 0) {
    return fault(
      `no process of ${missing.join(', ')} has told of itself for half a minute${says && `; ${says}`}`,
      'Start it; if it runs, it uses another Redis: compare REDIS_URL',
    );
  }
  return builds.size > 1
    ? warning(says, 'Wait for the end of the upgrade, or look for the rollout that stands still')
    : ok(says);
}

function counted(apps: readonly string[]): string {
  const names = [...new Set(apps)].sort();
  return names.map((app) => `${apps.filter((one) => one === app).length} ${app}`).join(', ');
}
