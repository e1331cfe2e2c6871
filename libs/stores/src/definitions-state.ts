import type { DefinitionFollower } from '@glovebox/definitions';
import { upOrDown } from '@glovebox/service-host';

/** For health: `up`, or why this process may not take work. */
export async function definitionsState(
  follower: Pick<DefinitionFollower, 'loading' | 'newer' | 'current'>,
  config: { readonly READY_WITH_NEWER_DEFINITIONS: boolean },
): Promise<string> {
  if (follower.loading !== undefined) return follower.loading;
  const state = await upOrDown(() => follower.current());
  const { newer } = follower;
  if (state === 'down' || newer === 0 || config.READY_WITH_NEWER_DEFINITIONS) return state;
  return `this process is too old for ${newer} definitions`;
}
