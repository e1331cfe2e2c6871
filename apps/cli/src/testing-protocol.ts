import type { Outcome, ProxyTrial, ReactorTrial } from './project/trial';

/** What a test asks `glovebox test` for. */
export type Asked =
  | { readonly kind: 'reactor'; readonly slug: string; readonly trial: ReactorTrial }
  | { readonly kind: 'proxy'; readonly slug: string; readonly trial: ProxyTrial };

export interface Told {
  readonly outcome: Outcome;
}
