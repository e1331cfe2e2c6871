import type { Outcome, ProxyTrial, ReactorTrial } from './project/trial';

/** No test lets code use tokens. */
export type TestedReactor = Omit<ReactorTrial, 'svc'>;

/** What a test asks `glovebox test` for. */
export type Asked =
  | { readonly kind: 'reactor'; readonly slug: string; readonly trial: TestedReactor }
  | { readonly kind: 'proxy'; readonly slug: string; readonly trial: ProxyTrial };

export interface Told {
  readonly outcome: Outcome;
}
