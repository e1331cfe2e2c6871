import { OpenedValues } from './opened-values';
import type { Ran } from './reactor-response';
import type { KnownToRun } from './redact';

/** A synchronous run of a reactor without an application. */
export const aReactor: Ran = {
  what: 'reactor',
  runtime: 'node20',
  hasSvc: false,
  isAsync: false,
  timeoutMs: 10_000,
};

/** A run that knows these values of arguments, and nothing else. */
export function knowing(values: unknown, more: Partial<KnownToRun> = {}): KnownToRun {
  return {
    data: [],
    opened: new OpenedValues(),
    args: { values },
    sent: undefined,
    configuration: {},
    parameters: [],
    code: '',
    ...more,
  };
}
