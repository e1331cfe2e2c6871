import { OpenedValues } from './opened-values';
import type { KnownToRun } from './redact';

/** A run that knows these arguments, and nothing else. */
export function knowing(args: unknown, more: Partial<KnownToRun> = {}): KnownToRun {
  return {
    data: [],
    opened: new OpenedValues(),
    args,
    configuration: {},
    parameters: [],
    code: '',
    ...more,
  };
}
