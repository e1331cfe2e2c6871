import {
  isContainer,
  memberPath,
  placeTemplate,
  valueOf,
  type Container,
  type JsonPath,
  type PlaceInDocument,
  type Work,
} from '@glovebox/expressions';
import { jsonDepthMax, jsonValuesMax } from '@glovebox/wire';
import { placesOf, put, tooMuch, type SteppedBody } from './body-places';

/** Returns the number of places that its path matched. */
type BodyChange = (body: SteppedBody) => Work<number>;

/** Makes all values from the body as it was before the step. A null has nothing to hide. */
export function masking(path: JsonPath, expression: string): BodyChange {
  const template = placeTemplate(expression);
  return function* (message) {
    const { holder, budget, look } = message;
    const masked: (readonly [place: PlaceInDocument, value: unknown])[] = [];
    const places = yield* placesOf(holder, path, look);
    for (const place of places) {
      const value = valueOf(place);
      if (value === null) continue;
      const made = yield* template.make(holder[0], value, budget);
      masked.push([place, copied(made, place.depth, message)]);
      yield;
    }
    for (const [place, value] of masked) put(place, value);
    return places.length;
  };
}

/** Adds a member to every object at the rest of the path, or an item where there is a list. */
export function appending(path: JsonPath, value: unknown): BodyChange {
  const text = JSON.stringify(value);
  const member = memberPath(path);
  return function* (message) {
    const { holder, budget, look } = message;
    const add = (parent: Container, key: string | number, depth: number): void => {
      budget.spend(text);
      const list = Object.hasOwn(parent, key) ? valueOf({ parent, key }) : undefined;
      if (Array.isArray(list)) list.push(copied(value, depth + 1, message));
      else put({ parent, key }, copied(value, depth, message));
    };
    if (!member) {
      if (!Array.isArray(holder[0])) return 0;
      add(holder, 0, 0);
      return 1;
    }
    let added = 0;
    for (const place of yield* placesOf(holder, member.parent, look)) {
      const parent = valueOf(place);
      if (!isContainer(parent) || Array.isArray(parent)) continue;
      add(parent, member.name, place.depth + 1);
      added += 1;
      yield;
    }
    return added;
  };
}

export function removing(path: JsonPath): BodyChange {
  return function* ({ holder, look }) {
    const removed = new Map<unknown[], Set<unknown>>();
    const places = yield* placesOf(holder, path, look);
    for (const { parent, key } of places) {
      if (!Array.isArray(parent)) delete parent[key];
      else removed.set(parent, (removed.get(parent) ?? new Set()).add(key));
    }
    for (const [list, indexes] of removed) {
      const kept = list.filter((_, index) => !indexes.has(index));
      list.length = 0;
      for (const item of kept) list.push(item);
      yield;
    }
    return places.length;
  };
}

/** Copies for each place: a later change of one must not show in another. */
function copied(value: unknown, depth: number, message: SteppedBody): unknown {
  message.valuesLeft -= 1;
  if (message.valuesLeft < 0) {
    throw tooMuch(`The steps of a message may add at most ${jsonValuesMax} values to its body.`);
  }
  if (!isContainer(value)) return value;
  if (depth >= jsonDepthMax) {
    throw tooMuch(`Steps may nest a body at most ${jsonDepthMax} levels deep.`);
  }
  if (Array.isArray(value)) return value.map((item) => copied(item, depth + 1, message));
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [name, copied(member, depth + 1, message)]),
  );
}
