import type { StepToken, TransformStep } from '@glovebox/definitions';
import {
  Budget,
  inSlices,
  isContainer,
  memberPath,
  Opaque,
  parseJsonPath,
  placesAt,
  placeTemplate,
  valueOf,
  type Container,
  type JsonPath,
  type PlaceInDocument,
  type Work,
} from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { jsonDepthMax, jsonValuesMax, type ServiceHeaders } from '@glovebox/wire';
import { writeExactJson } from './exact-json';
import { withField, withHeader, withoutField, withoutHeader } from './head-steps';

interface StepMessage {
  /** Name, value, name, value… */
  readonly headers: string[];
  /** Without its question mark. */
  readonly query: string;
  /** Read by `readExactJson`, or undefined if there is none. The steps change it in place. */
  readonly body: unknown;
}

export interface AskedToken {
  readonly token: StepToken;
  readonly data: unknown;
}

export interface StepTools {
  readonly serviceHeaders: ServiceHeaders;
  /** The budget of the message, which bounds everything made for it. */
  readonly budget?: Budget;
  /**
   * Makes tokens and returns their ids in the same order, all or none. Called once, when no step
   * can fail any more. A Problem names each token by its position: `0.data.number`.
   */
  tokenize(asked: readonly AskedToken[]): Promise<readonly string[]>;
}

/** Places that one step may change. */
const matchesMax = 1_000;
/** Tokens made by all steps of a message together. */
const stepTokensMax = 1_000;
/** Values that the paths of all steps of a message may look at. */
const stepVisitsMax = 2_500_000;

/** True if a body that is not JSON must be refused. */
export function needsBody(steps: readonly TransformStep[]): boolean {
  return steps.some(({ type, options }) =>
    type === 'append' || type === 'remove' ? options.location === 'body' : true,
  );
}

/** True if code must not see the body as it came, because a step takes something out of it. */
export function hidesFromBody(steps: readonly TransformStep[]): boolean {
  return steps.some(
    ({ type, options }) =>
      type === 'mask' || type === 'tokenize' || (type === 'remove' && options.location === 'body'),
  );
}

/** Applies steps in the order of the list, all or none: a step that fails ends the call. */
export async function applySteps(
  steps: readonly TransformStep[],
  { headers, query, body }: StepMessage,
  tools: StepTools,
): Promise<StepMessage> {
  const message: Message = {
    headers,
    query,
    holder: [body],
    tools,
    budget: tools.budget ?? new Budget(),
    look: lookCounter(),
    valuesLeft: jsonValuesMax,
    tokensLeft: stepTokensMax,
  };
  const work = function* (): Work<readonly AskedPlace[]> {
    for (const change of compiled(steps)) yield* change(message);
    return message.tokensLeft < stepTokensMax ? yield* findAsked(message.holder) : [];
  };
  const asked = await inSlices(work(), message.budget.takeTurn);
  if (asked.length > 0) await fillTokensIn(asked, tools);
  return { headers: message.headers, query: message.query, body: message.holder[0] };
}

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

interface Message {
  headers: string[];
  query: string;
  readonly holder: [body: unknown];
  readonly tools: StepTools;
  readonly budget: Budget;
  readonly look: () => void;
  /** Values that steps may still add to the body. */
  valuesLeft: number;
  tokensLeft: number;
}

type Change = (message: Message) => Work<void>;

const known = new WeakMap<readonly TransformStep[], readonly Change[]>();

/** Hot path: parses the steps of a definition once. */
function compiled(steps: readonly TransformStep[]): readonly Change[] {
  const before = known.get(steps);
  if (before) return before;
  const changes = steps.map(changeOf);
  known.set(steps, changes);
  return changes;
}

function changeOf({ type, options }: TransformStep): Change {
  switch (type) {
    case 'mask':
      return masking(pathOf(options.path), options.expression);
    case 'tokenize':
      return tokenizing(pathOf(options.path), options);
    case 'detokenize':
      // Done before, when expressions were replaced.
      return nothing;
    case 'append':
      if (options.location === 'body') return appending(pathOf(options.path), options.value);
      return options.location === 'header'
        ? changingHeaders((headers, ours) => withHeader(headers, options.name, options.value, ours))
        : changingQuery((query) => withField(query, options.name, options.value));
    case 'remove':
      if (options.location === 'body') return removing(pathOf(options.path));
      return options.location === 'header'
        ? changingHeaders((headers, ours) => withoutHeader(headers, options.name, ours))
        : changingQuery((query) => withoutField(query, options.name));
  }
}

const nothing: Change = function* () {};

function changingHeaders(change: (headers: string[], ours: ServiceHeaders) => string[]): Change {
  return function* (message) {
    message.headers = change(message.headers, message.tools.serviceHeaders);
  };
}

function changingQuery(change: (query: string) => string): Change {
  return function* (message) {
    message.query = change(message.query);
  };
}

/** Makes all values from the body as it was before the step. A null has nothing to hide. */
function masking(path: JsonPath, expression: string): Change {
  const template = placeTemplate(expression);
  return function* (message) {
    const { holder, budget, look } = message;
    const masked: (readonly [place: PlaceInDocument, value: unknown])[] = [];
    for (const place of yield* placesOf(holder, path, look)) {
      const value = valueOf(place);
      if (value === null) continue;
      const made = yield* template.make(holder[0], value, budget);
      masked.push([place, copied(made, place.depth, message)]);
      yield;
    }
    for (const [place, value] of masked) put(place, value);
  };
}

/** Stands in for a token whose id is not known yet. Nothing can be made of it. */
class Asked extends Opaque {
  constructor(
    readonly path: string,
    readonly asked: AskedToken,
  ) {
    super();
  }

  plain(): never {
    throw new Problem('invalid_expression', {
      detail: 'A step reads a value that an earlier step tokenizes.',
    });
  }
}

function tokenizing(
  path: JsonPath,
  { path: text, token }: { path: string; token: StepToken },
): Change {
  return function* (message) {
    for (const place of yield* placesOf(message.holder, path, message.look)) {
      const value = valueOf(place);
      if (value === null) continue;
      if (message.tokensLeft === 0) {
        throw tooMuch(`The steps of a message may make at most ${stepTokensMax} tokens.`);
      }
      message.tokensLeft -= 1;
      // Token data is JSON, so a number that cannot be kept exactly is refused here.
      const data: unknown = JSON.parse(JSON.stringify(value));
      put(place, new Asked(text, { token, data }));
      yield;
    }
  };
}

interface Slot {
  readonly parent: Container;
  readonly key: string | number;
}

interface AskedPlace {
  readonly slot: Slot;
  readonly value: Asked;
}

const visitsOfSlice = 4_096;

/** Finds the places that no later step has removed. */
function* findAsked(holder: [unknown]): Work<readonly AskedPlace[]> {
  const found: AskedPlace[] = [];
  const waiting: Container[] = [holder];
  let visits = 0;
  for (let parent = waiting.pop(); parent; parent = waiting.pop()) {
    for (const key of Object.keys(parent)) {
      const value = valueOf({ parent, key });
      if (value instanceof Asked) found.push({ slot: { parent, key }, value });
      else if (isContainer(value)) waiting.push(value);
      visits += 1;
      if (visits % visitsOfSlice === 0) yield;
    }
  }
  return found;
}

async function fillTokensIn(places: readonly AskedPlace[], tools: StepTools): Promise<void> {
  const asked = places.map(({ value }) => value);
  const ids = await tools.tokenize(asked.map((one) => one.asked)).catch((thrown: unknown) => {
    throw namedByPath(thrown, asked);
  });
  if (ids.length !== places.length) throw new Error('Not as many tokens as were asked for');
  places.forEach(({ slot }, at) => put(slot, ids[at]));
}

/** Names the faults of a token by the path of its step: the caller does not know positions. */
function namedByPath(thrown: unknown, asked: readonly Asked[]): unknown {
  if (!(thrown instanceof Problem) || !thrown.errors) return thrown;
  const errors = Object.entries(thrown.errors).map(([name, messages]) => {
    const [, at, member] = /^(\d+)\.(.*)$/.exec(name) ?? [];
    const path = at === undefined ? undefined : asked[Number(at)]?.path;
    return [path === undefined ? name : `${path}: ${member}`, messages] as const;
  });
  return invalid(Object.fromEntries(errors));
}

/** Adds a member to every object at the rest of the path, or an item where there is a list. */
function appending(path: JsonPath, value: unknown): Change {
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
      if (Array.isArray(holder[0])) add(holder, 0, 0);
      return;
    }
    for (const place of yield* placesOf(holder, member.parent, look)) {
      const parent = valueOf(place);
      if (!isContainer(parent) || Array.isArray(parent)) continue;
      add(parent, member.name, place.depth + 1);
      yield;
    }
  };
}

function removing(path: JsonPath): Change {
  return function* ({ holder, look }) {
    const removed = new Map<unknown[], Set<unknown>>();
    for (const { parent, key } of yield* placesOf(holder, path, look)) {
      if (!Array.isArray(parent)) delete parent[key];
      else removed.set(parent, (removed.get(parent) ?? new Set()).add(key));
    }
    for (const [list, indexes] of removed) {
      const kept = list.filter((_, index) => !indexes.has(index));
      list.length = 0;
      for (const item of kept) list.push(item);
      yield;
    }
  };
}

/** Without a body no path leads anywhere. */
function* placesOf(
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
function pathOf(text: string): JsonPath {
  const path = parseJsonPath(text);
  if (!path) throw new Error('A definition has a step with a broken path');
  return path;
}

/** Plain assignment of a new member called __proto__ would set the prototype instead. */
function put({ parent, key }: Slot, value: unknown): void {
  Object.defineProperty(parent, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** Copies for each place: a later change of one must not show in another. */
function copied(value: unknown, depth: number, message: Message): unknown {
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

/** Counts the values that the paths of a message look at. */
function lookCounter(): () => void {
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

const tooMuch = (detail: string): Problem => new Problem('payload_too_large', { detail });
