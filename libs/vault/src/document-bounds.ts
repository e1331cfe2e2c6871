import { invalid } from '@glovebox/problems';
import { jsonDepthMax, jsonValuesMax } from '@glovebox/wire';

/**
 * Allows the depth of a request body. No other check bounds the depth of values from customer code.
 */
export function isShallow(value: unknown, levels = jsonDepthMax): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}

/** Allows as many values as a request body may hold. */
export const isShort = (value: unknown): boolean =>
  valuesIn(value, jsonValuesMax + 1) <= jsonValuesMax;

export const mustBeShort = `must hold at most ${jsonValuesMax} values, lists and objects`;

export function refuseUnwieldy(document: unknown): void {
  if (!isShallow(document)) {
    throw invalid({ body: [`must be nested at most ${jsonDepthMax} levels`] });
  }
  if (!isShort(document)) throw invalid({ body: [mustBeShort] });
}

/** Stops counting at `enough`. */
function valuesIn(value: unknown, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const member of Object.values(value)) {
    if (count >= enough) break;
    count += valuesIn(member, enough - count);
  }
  return count;
}
