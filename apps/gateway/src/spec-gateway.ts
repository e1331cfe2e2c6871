import { randomBytes, randomUUID } from 'node:crypto';
import {
  generateApiKey,
  generateProxyKey,
  type AccessRule,
  type Permission,
} from '@glovebox/access';
import { connectDatabase, dataKeyTable, type Sql } from '@glovebox/database';
import {
  appendChanges,
  appendDefinition,
  type ApplicationDefinition,
  type Definition,
  type ProxyDefinition,
  type RequestParameter,
} from '@glovebox/definitions';
import { createKeyHash, parseKeyRing, Sealer } from '@glovebox/seal';
import { stopService } from '@glovebox/service-host';
import {
  enterTenant,
  createTestDatabase,
  startDestination,
  rewriteDefinition,
  startRedis,
  waitFor,
} from '@glovebox/testing';
import { TokenUses, Vault, type TokenInput } from '@glovebox/vault';
import { loadGatewayConfig } from './config';
import { startGateway } from './gateway';

/** Starts a gateway on real stores, with a tenant whose definitions the spec writes. */
export async function startSpecGateway(environment: Record<string, string> = {}) {
  const testDatabase = await createTestDatabase();
  const redis = await startRedis();
  const management = await startDestination();
  const keyRing = `1:${randomBytes(32).toString('base64')}`;
  const config = loadGatewayConfig({
    PORT: '0',
    OPS_PORT: '0',
    DATABASE_URL: testDatabase.dataUrl,
    REDIS_URL: redis.url,
    KEY_RING: keyRing,
    MANAGEMENT_URL: management.url,
    RUNNER_URLS: 'unix:/nonexistent/runner.sock',
    RUNNER_SECRET: 'secret',
    HEADER_PREFIXES: 'SVC,BT',
    EGRESS_ALLOW: '127.0.0.1:*',
    LOG_LEVEL: 'error',
    ...environment,
  });
  const accessLog: string[] = [];
  const stopping = new AbortController();
  const gateway = await startGateway(config, {
    stopping: stopping.signal,
    writeAccessLog: (lines) => accessLog.push(lines),
  });
  const { ctx, ports } = gateway;
  let stopped: Promise<void> | undefined;

  const tenantId = randomUUID();
  const ring = parseKeyRing(keyRing);
  const owner = connectDatabase({
    url: testDatabase.managementUrl,
    app: 'spec',
    connectionsMax: 2,
  });
  const sealer = new Sealer(ring, dataKeyTable(owner));
  const keyHash = await createKeyHash(sealer);
  const define = (definition: Definition): Promise<void> =>
    write(definition.tenantId, (sql) => appendDefinition(sql, ring, definition));
  const write = async (tenant: string, append: (sql: Sql) => Promise<number>): Promise<void> => {
    const version = await owner.transaction(async (sql) => {
      await enterTenant(sql, tenant);
      return append(sql);
    });
    await ctx.follower.reach(version);
  };

  return {
    ctx,
    server: gateway.server,
    forwardServer: gateway.forwardServer,
    port: ports.port,
    ports,
    url: `http://127.0.0.1:${ports.port}`,
    opsUrl: `http://127.0.0.1:${ports.ops}`,
    tenantId,
    /** The chunks written to the access log. */
    accessLog,
    management,
    redis,
    define,

    async tenantSettings(settings: Record<string, string>): Promise<void> {
      await define({ kind: 'tenant', id: tenantId, tenantId, settings, webhookSecrets: [] });
    },

    /** Makes an application of the tenant, or of another one, and returns its key. */
    async application(
      permissions: Permission[],
      tenant = tenantId,
      rules: readonly AccessRule[] = [],
    ): Promise<string> {
      return (await this.revocable(permissions, tenant, rules)).key;
    },

    async revocable(
      permissions: Permission[],
      tenant = tenantId,
      rules: readonly AccessRule[] = [],
    ): Promise<{
      readonly key: string;
      readonly id: string;
      revoke(): Promise<void>;
      change(changes: Partial<ApplicationDefinition>): Promise<void>;
    }> {
      const key = generateApiKey();
      const definition: ApplicationDefinition = {
        kind: 'application',
        id: randomUUID(),
        tenantId: tenant,
        type: 'private',
        permissions,
        rules,
        expiresAt: null,
        allowedOrigins: [],
        keys: [{ id: randomUUID(), hash: keyHash(key) }],
      };
      await define(definition);
      return {
        key,
        id: definition.id,
        revoke: () => define({ ...definition, keys: [] }),
        change: (changes) => define({ ...definition, ...changes }),
      };
    },

    /** Makes a proxy of the tenant and returns its key. */
    async proxy(destinationUrl: string, changes: Partial<ProxyDefinition> = {}): Promise<string> {
      return (await this.changeableProxy(destinationUrl, changes)).key;
    },

    async changeableProxy(
      destinationUrl: string,
      first: Partial<ProxyDefinition> = {},
    ): Promise<{
      readonly key: string;
      readonly id: string;
      change(changes: Partial<ProxyDefinition>): Promise<void>;
      remove(): Promise<void>;
    }> {
      const key = generateProxyKey();
      const definition: ProxyDefinition = {
        kind: 'proxy',
        id: randomUUID(),
        tenantId,
        keyHash: keyHash(key),
        destinationUrl,
        requireAuth: true,
        detokenize: true,
        requestTransform: null,
        responseTransform: null,
        requestSteps: [],
        responseSteps: [],
        applicationId: null,
        configuration: {},
        isolation: 'warm',
        timeoutMs: null,
        tls: null,
        allowedOrigins: [],
        match: null,
        forwardTo: null,
        ...first,
      };
      await define(definition);
      return {
        key,
        id: definition.id,
        change: (changes) => define({ ...definition, ...changes }),
        remove: () => write(tenantId, (sql) => appendChanges(sql, ring, [], [definition])),
      };
    },

    /** Makes a reactor of the tenant, and returns its id. */
    async reactor(
      requestParameters: readonly RequestParameter[] = [],
      code = 'module.exports = () => ({})',
    ): Promise<string> {
      const [id, formulaId] = [randomUUID(), randomUUID()];
      await define({
        ...{ kind: 'formula', id: formulaId, tenantId, code, codeHash: code },
        ...{ runtime: 'node20', requestParameters },
      });
      await define({
        ...{ kind: 'reactor', id, tenantId, formulaId },
        ...{ applicationId: null, configuration: {}, isolation: 'warm' },
      });
      return id;
    },

    async token(data: unknown, more: Omit<TokenInput, 'data'> = {}): Promise<string> {
      const principal = {
        actorId: randomUUID(),
        tenantId,
        type: 'private' as const,
        permissions: ['token:create' as const],
        rules: [],
      };
      const vault = new Vault(sealer, new TokenUses(owner));
      const { view } = await owner.transaction(async (sql) => {
        await enterTenant(sql, tenantId);
        return vault.createToken(sql, { principal, traceId: 'spec' }, { ...more, data });
      });
      return view.id;
    },

    /** The lines of the audit log about a token. */
    uses(tokenId: string): Promise<Record<string, unknown>[]> {
      return owner.transaction(async (sql) => {
        await enterTenant(sql, tenantId);
        return sql.query(`SELECT * FROM audit_log WHERE $1 = ANY (token_ids)`, [tokenId]);
      });
    },

    /** Writes a definition as another release would. */
    async rewrite(
      { kind, id }: Pick<Definition, 'kind' | 'id'>,
      change: Parameters<typeof rewriteDefinition>[2],
    ): Promise<void> {
      const stores = { adminUrl: testDatabase.adminUrl, keyRing };
      await rewriteDefinition(stores, { kind, id }, change);
      await ctx.follower.reach(Number.MAX_SAFE_INTEGER);
    },

    /** Runs a statement as the owner of the whole database. */
    async asAdmin(statement: string): Promise<unknown[]> {
      const admin = connectDatabase({ url: testDatabase.adminUrl, app: 'spec', connectionsMax: 1 });
      const rows = await admin.query(statement);
      await admin.close();
      return rows;
    },

    /** Takes Postgres away until nobody knows what is in force. */
    async cutOff(): Promise<void> {
      await this.asAdmin(
        `DO $$ BEGIN
           EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 0', current_database());
           PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid();
         END $$`,
      );
      await waitFor(() => ctx.follower.fresh() === undefined);
    },

    /** Stops the gateway in the way that SIGTERM does. */
    stop(): Promise<void> {
      stopped ??= stopService(gateway, stopping);
      return stopped;
    },

    async close(): Promise<void> {
      gateway.server.closeAllConnections();
      gateway.forwardServer?.closeAllConnections();
      await this.stop();
      await owner.close();
      await management.close();
      await redis.stop();
      await testDatabase.drop();
    },
  };
}

export type SpecGateway = Awaited<ReturnType<typeof startSpecGateway>>;
