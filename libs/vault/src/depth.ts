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

const valuesMax = 100_000;

/** Each value costs far more than its bytes once a document is walked: `[[],[],…]` is all values. */
export function refuseUnwieldy(document: unknown): void {
  refuseDeep(document);
  if (valuesIn(document, valuesMax + 1) > valuesMax) {
    throw invalid({ '': [`must hold at most ${valuesMax} values, lists and objects`] });
  }
}

/** Counts no further than it has to. */
function valuesIn(value: unknown, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const member of Object.values(value)) {
    if (count >= enough) break;
    count += valuesIn(member, enough - count);
  }
  return count;
}
