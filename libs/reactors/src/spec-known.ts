import { OpenedValues } from './opened-values';
import type { KnownToRun } from './redact';

/** A run that knows these values of arguments, and nothing else. */
export function knowing(values: unknown, more: Partial<KnownToRun> = {}): KnownToRun {
  return {
    data: [],
    opened: new OpenedValues(),
    args: { values },
    configuration: {},
    parameters: [],
    code: '',
    ...more,
  };
}
