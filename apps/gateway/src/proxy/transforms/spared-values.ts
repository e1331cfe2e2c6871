import type { TransformStep } from '@glovebox/definitions';
import { valueOf, type Container, type PlaceInDocument, type Work } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { lookCounter, pathOf, placesOf, put, type Slot } from './body-places';
import { writeExactJson } from './exact-json';

/** A body without the values in which expressions stay as they are. */
export interface Spared {
  readonly text: string;
  /**
   * Puts the values back into the parsed text. Call it before anything else changes the document.
   */
  putBack(document: unknown): unknown;
}

/** Takes the body apart and replaces each value by null. */
export function* withoutValuesAt(steps: readonly TransformStep[], body: unknown): Work<Spared> {
  const holder: [unknown] = [body];
  const look = lookCounter();
  const taken: { readonly place: PlaceInDocument; readonly value: unknown }[] = [];
  for (const { type, options } of steps) {
    if (type !== 'detokenize') continue;
    for (const place of yield* placesOf(holder, pathOf(options.path), look)) {
      taken.unshift({ place, value: valueOf(place) });
      put(place, null);
    }
  }
  const text = yield* writeExactJson(holder[0]);
  return {
    text,
    putBack: (document) => {
      const filled: [unknown] = [document];
      // The last one first: the others may stand within it.
      for (const { place, value } of taken) put(sameIn(filled, place), value);
      return filled[0];
    },
  };
}

/** Finds the place in another document of the same shape. */
function sameIn(holder: [unknown], { up, key }: PlaceInDocument): Slot {
  if (!up) return { parent: holder, key };
  const parent = valueOf(sameIn(holder, up));
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) {
    throw new Problem('invalid_expression', {
      detail: 'An expression changes a name in the path to a value that a step leaves as it is.',
    });
  }
  return { parent: parent as Container, key };
}
