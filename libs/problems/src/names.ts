/** More of them may be the number of a card, an account or a person. */
const digitsShown = 4;
/** A key by its beginning, or a long word with a digit in it: a key of a proxy has no other mark. */
const keyLike = /(?:key|whsec)_[0-9A-Za-z]{20}|(?=[A-Za-z]*\d)[0-9A-Za-z]{22}/;

/** Whether a word of somebody else's may be data or a key, in the place of a name. */
export const mayBeData = (word: string): boolean =>
  word.replace(/\D/g, '').length > digitsShown || keyLike.test(word);

/**
 * Whether an answer may repeat a name of a caller's: it is short, of the form of our own, and does
 * not look like data.
 */
export const isShowableName = (name: string): boolean =>
  /^[A-Za-z0-9_.-]{1,40}$/.test(name) && !mayBeData(name);

/** Longer names are not compared. */
const comparedCharacters = 40;
/** Names that begin alike are near, however they end: `lastfour` and `last4`. */
const sharedBeginning = 4;

/** The known name that was meant, if one is near. Work is bounded by the number of known names. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  if (given.length > comparedCharacters) return undefined;
  const lower = given.toLowerCase();
  const distances = known.map((name) => [name, lettersBetween(lower, name.toLowerCase())] as const);
  const [nearest] = distances.sort(([, one], [, other]) => one - other);
  if (nearest && nearest[1] <= Math.max(1, Math.floor(lower.length / 3))) return nearest[0];
  return known.find((name) => {
    const shared = Math.max(sharedBeginning, Math.ceil(name.length / 2));
    return (
      Math.min(name.length, lower.length) >= shared &&
      name.slice(0, shared).toLowerCase() === lower.slice(0, shared)
    );
  });
}

/** `; did you mean name?`, or nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  const nearest = nearestName(given, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** Looked up once: each cell of a comparison needs it. */
const { min } = Math;

/** Counts letters to insert, drop, exchange, or swap with their neighbour. */
export function lettersBetween(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const diagonal = above[column - 1] ?? 0;
      // Nothing is nearer than to keep a letter that is the same.
      if (one[row - 1] === other[column - 1]) current.push(diagonal);
      else {
        const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
        const swapped = isSwapped ? (before[column - 2] ?? 0) : diagonal;
        current.push(1 + min(diagonal, above[column] ?? 0, current[column - 1] ?? 0, swapped));
      }
    }
    [before, above] = [above, current];
  }
  return above[other.length] ?? 0;
}
