import { invalid } from '@glovebox/problems';

const levelsMax = 64;

/** As deep as bodies of requests may be; what customers' code sends has passed no such check. */
export function isShallow(value: unknown, levels = levelsMax): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}

export function refuseDeep(document: unknown): void {
  if (!isShallow(document)) throw invalid({ '': [`must be nested at most ${levelsMax} levels`] });
}
