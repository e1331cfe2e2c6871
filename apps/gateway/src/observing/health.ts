import { get } from 'node:http';
import { workerAliveKey } from '@glovebox/reactors';
import type { Readiness } from '@glovebox/service-host';
import type { GatewayContext } from '../context';

const within = 1_000;

/** This process alone: may it take calls? */
export async function gatewayReadiness(ctx: GatewayContext): Promise<Readiness> {
  const [definitions, keys, redis, postgres] = await Promise.all([
    ctx.definitions.follower.loading ?? up(() => ctx.follower.current()),
    ctx.sealer.masterKeys(within),
    up(() => ctx.definitions.redis.ping()),
    up(() => ctx.database.query('SELECT 1')),
  ]);
  const ready = definitions === 'up' && keys === 'up';
  return { ready, components: { definitions, keys, redis, postgres } };
}

const shared = new WeakMap<
  GatewayContext,
  { readonly at: number; readonly state: Promise<State> }
>();

/**
 * The whole product, as the public base URL answers for it. Whoever asks: stores and apps are asked
 * once a second.
 */
export async function productReadiness(ctx: GatewayContext): Promise<Readiness> {
  const known = shared.get(ctx);
  const isFresh = known && performance.now() - known.at < within;
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
    up(() => answersAt(ctx.config.MANAGEMENT_URL)),
    up(() => workerBeats(ctx)),
    up(async () => {
      if (!(await ctx.runner.ready())) throw new Error('no runner answers');
    }),
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

async function workerBeats(ctx: GatewayContext): Promise<void> {
  if ((await ctx.definitions.redis.exists(workerAliveKey)) === 0)
    throw new Error('no worker is alive');
}

function answersAt(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(new URL('/health/live', url), { timeout: within }, (answer) => {
      answer.resume();
      resolve();
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', reject);
  });
}

async function up(check: () => Promise<unknown>): Promise<'up' | 'down'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), within);
  });
  try {
    await Promise.race([check(), late]);
    return 'up';
  } catch {
    return 'down';
  } finally {
    clearTimeout(timer);
  }
}
