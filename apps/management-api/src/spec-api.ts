import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import supertest, { type Test } from 'supertest';
import { connectDatabase, type Database } from '@glovebox/database';
import type { DefinitionKind, DefinitionOf } from '@glovebox/definitions';
import {
  createTestDatabase,
  startRedis,
  type PrivateRedis,
  type TestDatabase,
} from '@glovebox/testing';
import { controllers, createApp } from './app.module';
import { loadManagementConfig } from './config';
import { listenForConsole } from './console/console-server';
import { createManagementContext, type ManagementContext } from './context';
import { Conformance } from './openapi/spec-conform';
import { openApiDocument } from './openapi/document';
import { createTenant, type NewTenant } from './tenants/create-tenant';

/** All processes of a spec seal by the same key. */
export const keyRing = `1:${randomBytes(32).toString('base64')}`;

export const rule = (
  transform: string,
  container = '/',
  permissions: readonly string[] = ['token:read'],
  priority = 1,
) => ({ priority, container, transform, permissions });

/** One process of the real application, with a tenant of its own and a foreign one. */
export interface TestProcess {
  readonly ctx: ManagementContext;
  readonly app: NestExpressApplication;
  readonly port: number;
  /** Of the console, where CONSOLE_PORT is set. */
  readonly consolePort: number;
  readonly tenant: Required<NewTenant>;
  readonly foreign: Required<NewTenant>;
  get(path: string, key?: string): Test;
  put(path: string, body: unknown, key?: string): Test;
  patch(path: string, body: unknown, key?: string): Test;
  delete(path: string, key?: string): Test;
  post(path: string, body: unknown, key?: string): Test;
  /** Posts the body, expects 201 and returns the answer. */
  made<Body extends object = { id: string }>(
    path: string,
    body: unknown,
    key?: string,
  ): Promise<Body>;
  /** Creates a token as an application with every permission on tokens; returns its id. */
  storedToken(token: object, key?: string): Promise<string>;
  /** Returns a key with these permissions and no others. */
  keyWith(type: string, permissions: readonly string[], rules?: readonly object[]): Promise<string>;
  /** Returns the definition that the next call would meet. */
  inForce<Kind extends DefinitionKind>(kind: Kind, id: string): DefinitionOf<Kind> | undefined;
  close(): Promise<void>;
}

/** The stores of one spec. */
export interface TestStores {
  readonly database: TestDatabase;
  readonly redis: PrivateRedis;
  /** The superuser's connections: they look past row-level security. */
  readonly admin: Database;
}

interface TestApi extends TestProcess, TestStores {
  /** Starts another process on the same stores, with the same settings. */
  startAnother(): Promise<TestProcess>;
}

/**
 * Starts the API on real stores before the first test of a spec, and stops all of it after the
 * last. The members are there from `beforeAll` on.
 */
export function useTestApi(env: Record<string, string> = {}): TestApi {
  const api = {} as TestApi;
  const processes: TestProcess[] = [];

  beforeAll(async () => {
    const stores = await startStores();
    const startAnother = async (): Promise<TestProcess> => {
      const started = await startTestProcess(
        { databaseUrl: stores.database.managementUrl, redisUrl: stores.redis.url },
        env,
      );
      processes.push(started);
      return started;
    };
    Object.assign(api, stores, { startAnother }, await startAnother());
  });

  afterAll(async () => {
    await Promise.all(processes.map((one) => one.close()));
    await stopStores(api);
  });

  return api;
}

/** The stores alone, for specs that start processes themselves. */
export function useTestStores(): TestStores {
  const stores = {} as TestStores;
  beforeAll(async () => {
    Object.assign(stores, await startStores());
  });
  afterAll(() => stopStores(stores));
  return stores;
}

export async function startStores(): Promise<TestStores> {
  const [database, redis] = await Promise.all([createTestDatabase(), startRedis()]);
  const admin = connectDatabase({
    url: database.adminUrl,
    app: 'spec',
    connectionsMax: 2,
    statementTimeoutMs: 60_000,
  });
  return { database, redis, admin };
}

export async function stopStores({ database, redis, admin }: TestStores): Promise<void> {
  await admin.close();
  await redis.stop();
  await database.drop();
}

/** Starts one process, for specs that take its stores away. */
export async function startTestProcess(
  { databaseUrl, redisUrl }: { databaseUrl: string; redisUrl: string },
  env: Record<string, string> = {},
): Promise<TestProcess> {
  const config = loadManagementConfig({
    LOG_LEVEL: 'silent',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    KEY_RING: keyRing,
    ...env,
  });
  const ctx = await createManagementContext(config);
  await ctx.definitions.start();
  const tenant = await demoTenant(ctx, 'Tenant');
  const foreign = await demoTenant(ctx, 'Foreign');
  const app = await createApp(ctx);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const consoleServer = await listenForConsole(app, config);
  const agent = supertest(app.getHttpServer());
  const conformance = new Conformance(openApiDocument(controllers));
  /** Every answer that a spec gets must be one that the documentation declares. */
  const declared = (test: Test): Test => test.expect((answer) => conformance.check(answer));

  const send =
    (method: 'post' | 'put' | 'patch', type: string) =>
    (path: string, body: unknown, key = tenant.management_key): Test =>
      declared(agent[method](path))
        .set('SVC-API-KEY', key)
        .set('Content-Type', type)
        .send(typeof body === 'string' ? body : JSON.stringify(body));
  const post = send('post', 'application/json');

  async function made<Body extends object = { id: string }>(
    path: string,
    body: unknown,
    key?: string,
  ): Promise<Body> {
    const answer = await post(path, body, key);
    expect([path, answer.status, answer.text]).toEqual([path, 201, answer.text]);
    return answer.body as Body;
  }

  return {
    ctx,
    app,
    port,
    consolePort: (consoleServer?.address() as AddressInfo | undefined)?.port ?? 0,
    tenant,
    foreign,
    get: (path, key = tenant.management_key) => declared(agent.get(path)).set('SVC-API-KEY', key),
    post,
    put: send('put', 'application/json'),
    patch: send('patch', 'application/merge-patch+json'),
    delete: (path, key = tenant.management_key) =>
      declared(agent.delete(path)).set('SVC-API-KEY', key),
    made,
    storedToken: async (token, key = tenant.private_key) => (await made('/tokens', token, key)).id,
    keyWith: async (type, permissions, rules = []) => {
      const application = { name: 'key', type, permissions, rules };
      return (await made<{ key: string }>('/applications', application)).key;
    },
    inForce: (kind, id) => ctx.definitions.follower.fresh()?.find(kind, tenant.tenant_id, id),
    async close() {
      consoleServer?.closeAllConnections();
      consoleServer?.close();
      await app.close();
      await ctx.close();
    },
  };
}

async function demoTenant(ctx: ManagementContext, name: string): Promise<Required<NewTenant>> {
  const tenant = await createTenant(ctx, { name, demo: true });
  return { ...tenant, private_key: tenant.private_key ?? '' };
}
