import type { StepToken } from '@glovebox/definitions';
import {
  isContainer,
  Opaque,
  valueOf,
  type Container,
  type JsonPath,
  type Work,
} from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { placesOf, put, tooMuch, type Slot, type SteppedBody } from './body-places';

/** A body with values that steps tokenize. Their ids come last, all at once. */
export interface TokenizedBody extends SteppedBody {
  tokensLeft: number;
}

export interface TokenRequest {
  readonly token: StepToken;
  readonly data: unknown;
}

/** Tokens made by all steps of a message together. */
export const stepTokensMax = 1_000;

/** Stands in for a token whose id is not known yet. Nothing can be made of it. */
class TokenPlaceholder extends Opaque {
  constructor(
    readonly path: string,
    readonly request: TokenRequest,
  ) {
    super();
  }

  plain(): never {
    throw new Problem('invalid_expression', {
      detail: 'A step reads a value that an earlier step tokenizes.',
    });
  }
}

/** Leaves a mark in place of each value. */
export function tokenizing(
  path: JsonPath,
  { path: text, token }: { path: string; token: StepToken },
): (message: TokenizedBody) => Work<number> {
  return function* (message) {
    const places = yield* placesOf(message.holder, path, message.look);
    for (const place of places) {
      const value = valueOf(place);
      if (value === null) continue;
      if (message.tokensLeft === 0) {
        throw tooMuch(`The steps of a message may make at most ${stepTokensMax} tokens.`);
      }
      message.tokensLeft -= 1;
      // Token data is JSON, so a number that cannot be kept exactly is refused here.
      const data: unknown = JSON.parse(JSON.stringify(value));
      put(place, new TokenPlaceholder(text, { token, data }));
      yield;
    }
    return places.length;
  };
}

export interface PlaceholderPlace {
  readonly slot: Slot;
  readonly value: TokenPlaceholder;
}

const visitsOfSlice = 4_096;

/** Finds the places that no later step has removed. */
export function* findPlaceholders(holder: [unknown]): Work<readonly PlaceholderPlace[]> {
  const found: PlaceholderPlace[] = [];
  const waiting: Container[] = [holder];
  let visits = 0;
  for (let parent = waiting.pop(); parent; parent = waiting.pop()) {
    for (const key of Object.keys(parent)) {
      const value = valueOf({ parent, key });
      if (value instanceof TokenPlaceholder) found.push({ slot: { parent, key }, value });
      else if (isContainer(value)) waiting.push(value);
      visits += 1;
      if (visits % visitsOfSlice === 0) yield;
    }
  }
  return found;
}

export async function fillTokensIn(
  places: readonly PlaceholderPlace[],
  tokenize: (requests: readonly TokenRequest[]) => Promise<readonly string[]>,
): Promise<void> {
  const placeholders = places.map(({ value }) => value);
  const requests = placeholders.map(({ request }) => request);
  const ids = await tokenize(requests).catch((thrown: unknown) => {
    throw namedByPath(thrown, placeholders);
  });
  if (ids.length !== places.length) throw new Error('Not as many tokens as were asked for');
  places.forEach(({ slot }, at) => put(slot, ids[at]));
}

/** Names the faults of a token by the path of its step: the caller does not know positions. */
function namedByPath(thrown: unknown, placeholders: readonly TokenPlaceholder[]): unknown {
  if (!(thrown instanceof Problem) || !thrown.errors) return thrown;
  const errors = Object.entries(thrown.errors).map(([name, messages]) => {
    const [, at, member] = /^(\d+)\.(.*)$/.exec(name) ?? [];
    const path = at === undefined ? undefined : placeholders[Number(at)]?.path;
    return [path === undefined ? name : `${path}: ${member}`, messages] as const;
  });
  return invalid(Object.fromEntries(errors));
}
