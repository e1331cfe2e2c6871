import {
  parseJsonPath,
  placesAt,
  type Budget,
  type Container,
  type JsonPath,
  type PlaceInDocument,
  type Work,
} from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';

/** Places that one step may change. */
const matchesMax = 1_000;
/** Values that the paths of all steps of a message may look at. */
const stepVisitsMax = 2_500_000;

/** A body that steps change, and what they may still cost. */
export interface SteppedBody {
  readonly holder: [body: unknown];
  readonly budget: Budget;
  readonly look: () => void;
  /** Values that steps may still add. */
  valuesLeft: number;
}

/** A member of an object, or an item of a list. */
export interface Slot {
  readonly parent: Container;
  readonly key: string | number;
}

/** Without a body no path leads anywhere. */
export function* placesOf(
  holder: [unknown],
  path: JsonPath,
  look: () => void,
): Work<readonly PlaceInDocument[]> {
  if (holder[0] === undefined) return [];
  const places = yield* placesAt(holder, path, matchesMax, look);
  if (places.length > matchesMax) {
    throw tooMuch(`A step may change at most ${matchesMax} places of a body.`);
  }
  return places;
}

/** Paths were checked when they were written. */
export function pathOf(text: string): JsonPath {
  const path = parseJsonPath(text);
  if (!path) throw new Error('A definition has a step with a broken path');
  return path;
}

/** Plain assignment of a new member called __proto__ would set the prototype instead. */
export function put({ parent, key }: Slot, value: unknown): void {
  Object.defineProperty(parent, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** Counts the values that the paths of a message look at. */
export function lookCounter(): () => void {
  let left = stepVisitsMax;
  return () => {
    left -= 1;
    if (left < 0) {
      throw tooMuch(
        `The steps of a message may look at no more than ${stepVisitsMax} values of its body.`,
      );
    }
  };
}

export const tooMuch = (detail: string): Problem => new Problem('payload_too_large', { detail });
