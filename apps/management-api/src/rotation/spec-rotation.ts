import { randomBytes } from 'node:crypto';
import { loadManagementConfig, loadRotationConfig } from '../config';
import { createManagementContext, type ManagementContext } from '../context';
import { createRotationContext, type RotationContext } from './context';

const keys = new Map<number, string>();

/** Makes a ring of these versions. A version has the same key in every ring of a spec. */
export function ringOf(...versions: number[]): string {
  return versions
    .map((version) => {
      const key = keys.get(version) ?? randomBytes(32).toString('base64');
      keys.set(version, key);
      return `${version}:${key}`;
    })
    .join(',');
}

interface Stores {
  readonly database: { readonly managementUrl: string; readonly rotationUrl: string };
  readonly redis: { readonly url: string };
}

/** Starts a process of the management API without its server. */
export async function startProcess(
  { database, redis }: Stores,
  ring: string,
): Promise<ManagementContext> {
  const ctx = await createManagementContext(
    loadManagementConfig({
      LOG_LEVEL: 'silent',
      DATABASE_URL: database.managementUrl,
      REDIS_URL: redis.url,
      KEY_RING: ring,
    }),
  );
  await ctx.sealer.requireMasterKeys();
  await ctx.definitions.start();
  return ctx;
}

export const rotationEnvironment = (
  { database, redis }: Stores,
  ring: string,
): Record<string, string> => ({
  DATABASE_URL: database.rotationUrl,
  REDIS_URL: redis.url,
  KEY_RING: ring,
});

/** Runs the work in a context of the command. */
export async function asRotation<Result>(
  stores: Stores,
  ring: string,
  work: (ctx: RotationContext) => Promise<Result>,
): Promise<Result> {
  const ctx = createRotationContext(loadRotationConfig(rotationEnvironment(stores, ring)));
  try {
    return await work(ctx);
  } finally {
    await ctx.close();
  }
}
