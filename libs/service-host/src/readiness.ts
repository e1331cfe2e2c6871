import type { Readiness } from './ops-server';

/** A part that does not answer within this time is down. */
export const readinessWithinMs = 1_000;

/** Resolves with the state of a part: up, down, or a longer word. */
type State = () => Promise<string>;

/** Asks for all states at once. The process is ready when each needed part is up. */
export async function readiness(parts: {
  readonly needed: Readonly<Record<string, State>>;
  readonly others?: Readonly<Record<string, State>>;
}): Promise<Readiness> {
  const [needed, others] = await Promise.all([statesOf(parts.needed), statesOf(parts.others)]);
  const ready = Object.values(needed).every((state) => state === 'up');
  return { ready, components: { ...needed, ...others } };
}

async function statesOf(parts: Readonly<Record<string, State>> = {}) {
  const states = Object.entries(parts).map(async ([name, state]) => [name, await state()] as const);
  return Object.fromEntries(await Promise.all(states));
}

/** Down when the check fails, says false or takes too long. */
export async function upOrDown(check: () => Promise<unknown>): Promise<'up' | 'down'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'down'>((resolve) => {
    timer = setTimeout(() => resolve('down'), readinessWithinMs);
  });
  const answer = async () => ((await check()) === false ? 'down' : 'up');
  try {
    return await Promise.race([answer(), late]);
  } catch {
    return 'down';
  } finally {
    clearTimeout(timer);
  }
}
