import type { KeptValue } from '@glovebox/dry-runs';
import type { TransformStep } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import { isJsonObject, type JsonObject } from '@glovebox/wire';
import type { Steps } from './transform-steps';

interface StepsInput {
  readonly request_transforms?: unknown;
  readonly response_transforms?: unknown;
}

interface Completed {
  /** The lists, with the stored values in their steps. */
  readonly lists: StepsInput;
  readonly kept: readonly KeptValue[];
}

const sides = {
  request_transforms: 'requestSteps',
  response_transforms: 'responseSteps',
} as const;

/**
 * People are not shown what steps append, and files do not hold it. A step with `value_set` and no
 * value keeps the value that is stored for the same place of the same list. A value never moves to
 * another header, parameter or member (docs/adr/0106, 0133).
 */
export function withKeptValues(input: StepsInput, stored: Steps): Completed {
  const kept: KeptValue[] = [];
  const errors: Record<string, string[]> = {};
  const lists: { -readonly [Member in keyof StepsInput]: unknown } = {};
  for (const member of ['request_transforms', 'response_transforms'] as const) {
    const list = input[member];
    if (!Array.isArray(list)) continue;
    const side = sides[member];
    lists[member] = list.map((step: unknown, at) => {
      if (!keepsValue(step)) return step;
      const from = placeInStored(list, at, stored[side]);
      const value = from === undefined ? undefined : valueOf(stored[side][from]);
      if (from === undefined || value === undefined) {
        errors[`${member}.${at}.options.value`] = [
          'is required: no stored step, or more than one, can be meant by it',
        ];
        return step;
      }
      kept.push({ side, at, from });
      return { ...step, options: { ...step.options, value } };
    });
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { lists, kept };
}

type Appending = JsonObject & { readonly options: JsonObject };

const appends = (step: unknown): step is Appending =>
  isJsonObject(step) && step.type === 'append' && isJsonObject(step.options);

const keepsValue = (step: unknown): step is Appending =>
  appends(step) && step.options.value_set === true && step.options.value === undefined;

/**
 * Several steps may append at one place. They are told apart by their order, which only says
 * something while there are as many as before.
 */
function placeInStored(
  list: readonly unknown[],
  at: number,
  stored: readonly TransformStep[],
): number | undefined {
  const place = placeOf(list[at]);
  const alike = indexesAt(list, place);
  const before = indexesAt(stored, place);
  return alike.length === before.length ? before[alike.indexOf(at)] : undefined;
}

const indexesAt = (list: readonly unknown[], place: string | undefined): number[] =>
  list.flatMap((step, at) => (placeOf(step) === place ? [at] : []));

function placeOf(step: unknown): string | undefined {
  if (!appends(step)) return undefined;
  const { location, name, path } = step.options;
  return JSON.stringify(location === 'body' ? [location, path] : [location, name]);
}

const valueOf = (step: TransformStep | undefined): unknown =>
  step?.type === 'append' ? step.options.value : undefined;

/** Takes stored values out again: a gateway puts them in from what it has itself. */
export function withoutKept<Proxy extends Steps>(proxy: Proxy, kept: readonly KeptValue[]): Proxy {
  const emptied = (side: keyof Steps): TransformStep[] =>
    proxy[side].map((step, at) => {
      const isKept = kept.some((one) => one.side === side && one.at === at);
      return isKept && step.type === 'append'
        ? ({ ...step, options: { ...step.options, value: '' } } as TransformStep)
        : step;
    });
  return {
    ...proxy,
    requestSteps: emptied('requestSteps'),
    responseSteps: emptied('responseSteps'),
  };
}
