import type { Principal } from '@glovebox/access';
import type { Author } from '../changes/change';

type Reader = Pick<Author, 'person'> | Pick<Principal, 'type'>;

interface Shown {
  readonly configuration?: Readonly<Record<string, string>>;
  readonly request_transforms?: readonly unknown[];
  readonly response_transforms?: readonly unknown[];
}

/** The names that are set, in the place of their values. */
interface WithoutValues {
  readonly configuration_set: readonly string[];
}

/**
 * Answers of reactors and proxies hold secrets of destinations. People of the console are told which
 * are set: the configuration by name, and of steps all but what they append.
 */
export function shownTo<Answer extends Shown>(
  reader: Reader,
  answer: Answer,
): Answer | (Omit<Answer, 'configuration'> & WithoutValues) {
  const isPerson = 'type' in reader ? reader.type === 'person' : reader.person !== undefined;
  if (!isPerson) return answer;
  const { configuration = {}, ...rest } = answer;
  const shown = { ...rest, configuration_set: Object.keys(configuration) };
  for (const member of ['request_transforms', 'response_transforms'] as const) {
    const steps = shown[member];
    if (steps) Object.assign(shown, { [member]: steps.map(withoutValue) });
  }
  return shown;
}

function withoutValue(step: unknown): unknown {
  const { type, options, ...rest } = step as { type: string; options: Record<string, unknown> };
  if (type !== 'append') return step;
  const { value: _, ...known } = options;
  return { type, ...rest, options: { ...known, value_set: true } };
}
