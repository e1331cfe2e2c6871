import { isRequired, type TransformStep } from '@glovebox/definitions';
import { Budget, nowOrInSlices, type JsonPath, type Work } from '@glovebox/expressions';
import { jsonValuesMax, type ServiceHeaders } from '@glovebox/wire';
import {
  fillTokensIn,
  findPlaceholders,
  stepTokensMax,
  tokenizing,
  type PlaceholderPlace,
  type TokenRequest,
  type TokenizedBody,
} from './token-placeholders';
import { lookCounter, pathOf, placesOf } from './body-places';
import { appending, masking, removing } from './body-changes';
import { failedInStep, unmatchedStep, type Side } from './transform-failure';
import type { AppendedValues } from './appended-values';
import { withField, withHeader, withNewHeader, withoutField, withoutHeader } from './head-steps';

interface StepMessage {
  /** Name, value, name, value… */
  readonly headers: string[];
  /** Without its question mark. */
  readonly query: string;
  /** Read by `readExactJson`, or undefined if there is none. The steps change it in place. */
  readonly body: unknown;
}

export interface StepTools {
  readonly side: Side;
  readonly serviceHeaders: ServiceHeaders;
  /** The budget of the message, which bounds everything made for it. */
  readonly budget?: Budget;
  /** What steps append whose values have expressions. */
  readonly appended?: Pick<AppendedValues, 'values' | 'late'> | undefined;
  /**
   * Makes tokens and returns their ids in the same order, all or none. Called once, when no step
   * can fail any more. A Problem names each token by its position: `0.data.number`.
   */
  tokenize(requests: readonly TokenRequest[]): Promise<readonly string[]>;
}

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
    serviceHeaders: tools.serviceHeaders,
    appended: tools.appended,
    holder: [body],
    budget: tools.budget ?? new Budget(),
    look: lookCounter(),
    valuesLeft: jsonValuesMax,
    tokensLeft: stepTokensMax,
  };
  const places = await nowOrInSlices(
    changed(message, compiled(steps), tools.side),
    message.budget.takeTurn,
  );
  if (places.length > 0) await fillTokensIn(places, (requests) => tools.tokenize(requests));
  return { headers: message.headers, query: message.query, body: message.holder[0] };
}

/** Returns the places where tokens are wanted. */
function* changed(
  message: Message,
  steps: readonly CompiledStep[],
  side: Side,
): Work<readonly PlaceholderPlace[]> {
  for (const { change, at, isRequired } of steps) {
    try {
      const matches = yield* change(message);
      if (isRequired && matches === 0) throw unmatchedStep(side, at);
    } catch (thrown) {
      throw failedInStep(thrown, side, at);
    }
  }
  return message.tokensLeft < stepTokensMax ? yield* findPlaceholders(message.holder) : [];
}

/** A message that the steps change one after the other. */
interface Message extends TokenizedBody {
  headers: string[];
  query: string;
  readonly serviceHeaders: ServiceHeaders;
  readonly appended: StepTools['appended'];
}

/** Returns the number of places that its path matched. */
type Change = (message: Message) => Work<number>;

interface CompiledStep {
  readonly change: Change;
  /** Its position in the proxy. */
  readonly at: number;
  readonly isRequired: boolean;
}

const known = new WeakMap<readonly TransformStep[], readonly CompiledStep[]>();

/** Hot path: parses the steps of a definition once. */
function compiled(steps: readonly TransformStep[]): readonly CompiledStep[] {
  const before = known.get(steps);
  if (before) return before;
  const inOrder = steps.map((step, at) => ({
    step,
    change: changeOf(step, at),
    at,
    isRequired: isRequired(step),
  }));
  // What a step has spared from expressions was there before any step changed the body.
  const first = inOrder.filter(({ step }) => step.type === 'detokenize');
  const rest = inOrder.filter(({ step }) => step.type !== 'detokenize');
  const all = [...first, ...rest];
  known.set(steps, all);
  return all;
}

function changeOf({ type, options }: TransformStep, at: number): Change {
  switch (type) {
    case 'mask':
      return masking(pathOf(options.path), options.expression);
    case 'tokenize':
      return tokenizing(pathOf(options.path), options);
    case 'detokenize':
      // Expressions were left alone before, when the others were replaced.
      return options.required ? counting(pathOf(options.path)) : nothing;
    case 'append':
      return appendingOf(options, at);
    case 'remove':
      if (options.location === 'body') return removing(pathOf(options.path));
      return options.location === 'header'
        ? changingHeaders((headers, ours) => withoutHeader(headers, options.name, ours))
        : changingQuery((query) => withoutField(query, options.name));
  }
}

/** A value with expressions was made for this message, and comes later where it signs the body. */
function appendingOf(options: AppendOptions, at: number): Change {
  const asWritten = appendingValue(options, options.value, withHeader);
  return function* (message) {
    const { appended } = message;
    if (appended?.late.has(at)) return 0;
    if (!appended?.values.has(at)) return yield* asWritten(message);
    return yield* appendingValue(options, appended.values.get(at), withNewHeader)(message);
  };
}

type AppendOptions = Extract<TransformStep, { type: 'append' }>['options'];

function appendingValue(options: AppendOptions, value: unknown, add: typeof withHeader): Change {
  if (options.location === 'body') return appending(pathOf(options.path), value);
  const text = String(value);
  return options.location === 'header'
    ? changingHeaders((headers, ours) => add(headers, options.name, text, ours))
    : changingQuery((query) => withField(query, options.name, text));
}

const nothing: Change = function* () {
  return 0;
};

function counting(path: JsonPath): Change {
  return function* ({ holder, look }) {
    return (yield* placesOf(holder, path, look)).length;
  };
}

function changingHeaders(change: (headers: string[], ours: ServiceHeaders) => string[]): Change {
  return function* (message) {
    message.headers = change(message.headers, message.serviceHeaders);
    return 0;
  };
}

function changingQuery(change: (query: string) => string): Change {
  return function* (message) {
    message.query = change(message.query);
    return 0;
  };
}
