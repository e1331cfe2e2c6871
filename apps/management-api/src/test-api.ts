import { randomBytes } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import supertest, { type Test } from 'supertest';
import { controllers, createApp } from './app.module';
import { loadManagementConfig } from './config';
import { createManagementContext, type ManagementContext } from './context';
import { Conformance } from './openapi/conform';
import { openApiDocument } from './openapi/document';
import { createTenant, type NewTenant } from './tenants/create-tenant';

/** The real application on real stores, for specs: with a tenant, and one more that is foreign. */
export interface TestApi {
  readonly ctx: ManagementContext;
  readonly app: NestExpressApplication;
  readonly tenant: Required<NewTenant>;
  readonly foreign: Required<NewTenant>;
  get(path: string, key?: string): Test;
  put(path: string, body: unknown, key?: string): Test;
  patch(path: string, body: unknown, key?: string): Test;
  delete(path: string, key?: string): Test;
  post(path: string, body: unknown, key?: string): Test;
  /** A key with these permissions and no others. */
  keyWith(type: string, permissions: readonly string[], rules?: readonly object[]): Promise<string>;
  close(): Promise<void>;
}

export async function startTestApi(options: {
  databaseUrl: string;
  redisUrl: string;
  env?: Record<string, string>;
}): Promise<TestApi> {
  const config = loadManagementConfig({
    LOG_LEVEL: 'silent',
    DATABASE_URL: options.databaseUrl,
    REDIS_URL: options.redisUrl,
    KEY_RING: `1:${randomBytes(32).toString('base64')}`,
    ...options.env,
  });
  const ctx = await createManagementContext(config);
  await ctx.definitions.start();
  const tenant = await demoTenant(ctx, 'Tenant');
  const foreign = await demoTenant(ctx, 'Foreign');
  const app = await createApp(ctx);
  await app.listen(0, '127.0.0.1');
  const agent = supertest(app.getHttpServer());
  const conformance = new Conformance(openApiDocument(controllers));
  /** Every answer that a spec gets is also one that the documentation declares. */
  const declared = (test: Test): Test => test.expect((answer) => conformance.check(answer));

  const send =
    (method: 'post' | 'put' | 'patch', type: string) =>
    (path: string, body: unknown, key = tenant.management_key): Test =>
      declared(agent[method](path))
        .set('SVC-API-KEY', key)
        .set('Content-Type', type)
        .send(typeof body === 'string' ? body : JSON.stringify(body));
  const post = send('post', 'application/json');

  return {
    ctx,
    app,
    tenant,
    foreign,
    get: (path, key = tenant.management_key) => declared(agent.get(path)).set('SVC-API-KEY', key),
    post,
    put: send('put', 'application/json'),
    patch: send('patch', 'application/merge-patch+json'),
    delete: (path, key = tenant.management_key) =>
      declared(agent.delete(path)).set('SVC-API-KEY', key),
    async keyWith(type, permissions, rules = []) {
      const answer = await post('/applications', { name: 'key', type, permissions, rules });
      return (answer.body as { key: string }).key;
    },
    async close() {
      await app.close();
      await ctx.close();
    },
  };
}

async function demoTenant(ctx: ManagementContext, name: string): Promise<Required<NewTenant>> {
  const tenant = await createTenant(ctx, { name, demo: true });
  return { ...tenant, private_key: tenant.private_key ?? '' };
}
