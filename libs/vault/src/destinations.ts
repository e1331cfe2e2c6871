import { isWithin, parseDestination, type DestinationPattern } from '@glovebox/access';

const known = new Map<string, DestinationPattern | undefined>();
const knownMax = 10_000;

/** Stored patterns were checked when they were written. Each is parsed once. */
export function patternOf(text: string): DestinationPattern | undefined {
  if (known.has(text)) return known.get(text);
  const pattern = parseDestination(text);
  if (known.size >= knownMax) known.clear();
  known.set(text, pattern);
  return pattern;
}

/** A pattern that nobody can read allows nothing. */
export const patternsOf = (list: readonly string[]): DestinationPattern[] =>
  list.map(patternOf).filter((pattern) => pattern !== undefined);

/** True if everything that the list names is within what is allowed. What nobody can read is not. */
export function areWithin(
  list: readonly string[],
  allowed: readonly DestinationPattern[],
): boolean {
  const patterns = patternsOf(list);
  return patterns.length === list.length && patterns.every((one) => isWithin(one, allowed));
}

/** True if a host that `goesTo` covers may be in the list, whatever the path. */
export const isAllowedAt = (list: readonly string[], goesTo: readonly string[]): boolean =>
  patternsOf(list).some(({ hosts }) => goesTo.includes(hosts));
