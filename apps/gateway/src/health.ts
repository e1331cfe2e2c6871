import { get } from 'node:http';
import { workerAliveKey } from '@glovebox/runs';
import { readiness, readinessWithinMs, upOrDown, type Readiness } from '@glovebox/service-host';
import { definitionsState } from '@glovebox/stores';
import type { GatewayContext } from './context';

/** Tells whether this process alone may take calls. */
export const gatewayReadiness = ({
  config,
  definitions,
  follower,
  sealer,
  database,
}: GatewayContext): Promise<Readiness> =>
  readiness({
    needed: {
      definitions: () => definitionsState(follower, config),
      keys: () => sealer.masterKeys(readinessWithinMs),
    },
    others: {
      redis: () => upOrDown(() => definitions.redis.ping()),
      postgres: () => upOrDown(() => database.query('SELECT 1')),
    },
  });

const shared = new WeakMap<
  GatewayContext,
  { readonly at: number; readonly state: Promise<State> }
>();

/**
 * The health of the whole product, as the public base URL reports it. Stores and apps are asked
 * once a second, however many callers ask.
 */
export async function productReadiness(ctx: GatewayContext): Promise<Readiness> {
  const known = shared.get(ctx);
  const isFresh = known && performance.now() - known.at < readinessWithinMs;
  const state = isFresh ? known.state : askAll(ctx);
  if (!isFresh) shared.set(ctx, { at: performance.now(), state });
  const { gateway, ...others } = await state;
  const components = { gateway: ctx.stopping.aborted ? 'stopping' : gateway, ...others };
  return { ready: Object.values(components).every((part) => part === 'up'), components };
}

type State = Readonly<
  Record<'gateway' | 'management-api' | 'worker' | 'runner' | 'postgres' | 'redis', string>
>;

async function askAll(ctx: GatewayContext): Promise<State> {
  const [own, management, worker, runner] = await Promise.all([
    gatewayReadiness(ctx),
    upOrDown(() => answersAt(ctx.config.MANAGEMENT_URL)),
    upOrDown(async () => (await ctx.definitions.redis.exists(workerAliveKey)) > 0),
    upOrDown(() => ctx.runner.ready()),
  ]);
  return {
    gateway: own.ready ? 'up' : 'down',
    'management-api': management,
    worker,
    runner,
    postgres: own.components.postgres ?? 'down',
    redis: own.components.redis ?? 'down',
  };
}

function answersAt(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(new URL('/health/live', url), { timeout: readinessWithinMs }, (answer) => {
      answer.resume();
      resolve();
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', reject);
  });
}
