import type { Readiness } from '@glovebox/service-host';
import type { WorkerContext } from './context';

/** A worker without Postgres, Redis or a runner takes jobs that it cannot do. */
export async function workerReadiness(ctx: WorkerContext): Promise<Readiness> {
  const state = (check: Promise<unknown>): Promise<'up' | 'down'> =>
    check.then(
      () => 'up' as const,
      () => 'down' as const,
    );
  const [definitions, keys, postgres, redis, runner] = await Promise.all([
    ctx.definitions.follower.loading ?? state(ctx.definitions.follower.current()),
    ctx.sealer.masterKeys(1_000),
    state(ctx.database.query('SELECT 1')),
    state(ctx.definitions.redis.ping()),
    ctx.runner.ready().then(
      (ready) => (ready ? ('up' as const) : ('down' as const)),
      () => 'down' as const,
    ),
  ]);
  const components = { definitions, keys, postgres, redis, runner };
  return { ready: Object.values(components).every((part) => part === 'up'), components };
}
