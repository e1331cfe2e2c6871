import { IsOptional, IsUUID } from 'class-validator';
import { invalid } from '@glovebox/problems';
import { queryReadBy } from '../http/request';
import { QueryFilters } from '../lists/query-filters';

/** Seconds that a reading waits for a webhook. */
export const waitSecondsMax = 25;

export class StartListener {
  @IsOptional()
  @IsUUID('loose')
  reactor_id?: string;
}

export interface ListenerResponse {
  readonly id: string;
  readonly reactor_id?: string;
  readonly after: string;
  readonly lease_seconds: number;
}

interface Copy {
  readonly id: string;
  readonly webhook_id: string;
  readonly reactor_id?: string;
  readonly created_at: string;
}

/** A copy, or why it is not shown. */
export type WebhookCopy =
  | (Copy & { readonly headers: Readonly<Record<string, string>>; readonly body: string })
  | (Copy & { readonly withheld: 'gone' | 'refused' });

export interface WebhookCopies {
  readonly after: string;
  readonly data: readonly WebhookCopy[];
}

export interface ListeningQuery {
  /** The part that the caller has. */
  readonly after: number;
  readonly waitMs: number;
  /** It renews the lease, and takes nothing. */
  readonly isRenewal: boolean;
}

export const Listening = queryReadBy((query): ListeningQuery => {
  const errors: Record<string, string[]> = {};
  const filters = new QueryFilters(query, errors);
  const after = filters.text('after', 20) ?? '0';
  const wait = filters.text('wait', 20) ?? String(waitSecondsMax);
  const isRenewal = filters.oneOf('copies', ['none']) !== undefined;
  if (!/^\d{1,15}$/.test(after)) errors.after = ['must be the `after` of the answer before'];
  if (!/^\d{1,2}$/.test(wait) || Number(wait) > waitSecondsMax) {
    errors.wait = [`must be a number from 0 to ${waitSecondsMax}`];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { after: Number(after), waitMs: Number(wait) * 1_000, isRenewal };
});
