import { randomBytes, randomUUID } from 'node:crypto';
import { connectDatabase } from '@glovebox/database';
import { appendDefinition, appendTenantDeletion, type Definition } from '@glovebox/definitions';
import { parseKeyRing } from '@glovebox/seal';
import { createTestDatabase, enterTenant, rewriteDefinition, startRedis } from '@glovebox/testing';
import { loadWorkerConfig } from './config';
import { createWorkerContext } from './context';

/** A worker's context on real stores. The spec starts the parts that it watches. */
export async function startSpecWorker(environment: Record<string, string> = {}) {
  const testDatabase = await createTestDatabase();
  const redis = await startRedis();
  const keyRing = `1:${randomBytes(32).toString('base64')}`;
  const config = loadWorkerConfig({
    DATABASE_URL: testDatabase.dataUrl,
    REDIS_URL: redis.url,
    KEY_RING: keyRing,
    RUNNER_URLS: 'unix:/nonexistent/runner.sock',
    RUNNER_SECRET: 'secret',
    EGRESS_ALLOW: '127.0.0.1:*',
    LOG_LEVEL: 'error',
    ...environment,
  });
  const ctx = await createWorkerContext(config);
  await ctx.definitions.start();
  const management = connectDatabase({
    url: testDatabase.managementUrl,
    app: 'spec',
    connectionsMax: 2,
  });
  const admin = connectDatabase({ url: testDatabase.adminUrl, app: 'spec', connectionsMax: 2 });
  const tenantId = randomUUID();

  return {
    ctx,
    tenantId,
    redis,

    /** Writes a definition and waits until this worker has it. */
    async define(definition: Definition): Promise<void> {
      const version = await management.transaction(async (sql) => {
        await enterTenant(sql, definition.tenantId);
        return appendDefinition(sql, parseKeyRing(keyRing), definition);
      });
      await ctx.definitions.follower.reach(version);
    },

    /** Writes a definition as a release would that says its reader needs this version. */
    async needReader(v: number, { kind, id }: Pick<Definition, 'kind' | 'id'>): Promise<void> {
      const stores = { adminUrl: testDatabase.adminUrl, keyRing };
      await rewriteDefinition(stores, { kind, id }, (payload) => ({ ...payload, v }));
      await ctx.definitions.follower.reach(Number.MAX_SAFE_INTEGER);
    },

    /** Deletes all definitions of a tenant, as its deletion does. */
    async deleteTenant(id: string): Promise<void> {
      await management.transaction(async (sql) => {
        await enterTenant(sql, id);
        await appendTenantDeletion(sql, id);
      });
    },

    /** The superuser's connections. */
    admin,

    async close(): Promise<void> {
      await ctx.close();
      await management.close();
      await admin.close();
      await redis.stop();
      await testDatabase.drop();
    },
  };
}

export type SpecWorker = Awaited<ReturnType<typeof startSpecWorker>>;
