import type { Readiness } from '@glovebox/service-host';
import type { ManagementContext } from './context';

const withinMs = 1_000;

/** This process alone. Without Redis it serves, a little slower. */
export async function managementReadiness(ctx: ManagementContext): Promise<Readiness> {
  const [definitions, keys, postgres, redis] = await Promise.all([
    ctx.definitions.follower.loading ?? stateOf(ctx.definitions.follower.current()),
    ctx.sealer.masterKeys(withinMs),
    stateOf(ctx.dataSource.query('SELECT 1')),
    stateOf(ctx.definitions.redis.ping()),
  ]);
  const ready = definitions === 'up' && keys === 'up' && postgres === 'up';
  return { ready, components: { definitions, keys, postgres, redis } };
}

async function stateOf(check: Promise<unknown>): Promise<'up' | 'down'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'down'>((resolve) => {
    timer = setTimeout(() => resolve('down'), withinMs);
  });
  const answer = check.then(
    () => 'up' as const,
    () => 'down' as const,
  );
  const state = await Promise.race([answer, late]);
  clearTimeout(timer);
  return state;
}
