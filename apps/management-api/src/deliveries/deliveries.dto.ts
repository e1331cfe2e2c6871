import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { CursorQuery } from '@glovebox/database';
import { invalid } from '@glovebox/problems';
import { deliveryStatuses, type DeliveryRow, type DeliveryStatus } from '@glovebox/runs';
import { queryReadBy } from '../http/request';
import { readCursorQuery } from '../lists/cursor';
import { QueryFilters } from '../lists/query-filters';
import { traceIdMax } from '../runs/runs.dto';
import { IsInstant, TextLength, WithoutNul } from '../validation/decorators';

/** One attempt, as the worker recorded it. No status: there was no answer. */
export interface WebhookAttempt {
  at: string;
  ms: number;
  status?: number;
  outcome: string;
  /** Where and why there was no answer. */
  cause?: { readonly phase: string; readonly reason: string };
}

/** Selects webhooks. Both times are inclusive, and are those of the run. */
export interface DeliveryQuery extends CursorQuery {
  readonly status: DeliveryStatus | undefined;
  readonly reactorId: string | undefined;
  readonly host: string | undefined;
  readonly traceId: string | undefined;
}

export interface DeliveryResponse {
  id: string;
  run_id: string;
  reactor_id?: string;
  webhook_id: string;
  host: string;
  status: string;
  outcome?: string;
  attempts: WebhookAttempt[];
  replayable: boolean;
  next_attempt_at?: string;
  created_at: string;
  ended_at?: string;
}

/**
 * `matched`: webhooks that were selected; `queued`: those of them that are sent again; `gone`: those
 * whose data could not be opened now.
 */
export interface ReplayResponse {
  matched: number;
  queued: number;
  gone: number;
}

/** The webhooks that would be sent again. */
export interface ReplayCount {
  count: number;
}

const hostMax = 255;
/** Webhooks of one replay. */
export const replayedMax = 1_000;

/** Selects webhooks that have ended. */
class ReplayFilter {
  @IsOptional()
  @IsIn(['delivered', 'failed'])
  status?: 'delivered' | 'failed';

  @IsOptional()
  @IsUUID('loose')
  reactor_id?: string;

  @IsOptional()
  @IsString()
  @TextLength(1, hostMax)
  @WithoutNul()
  host?: string;

  @IsOptional()
  @IsInstant()
  from?: string;

  @IsOptional()
  @IsInstant()
  to?: string;
}

export class ReplayDeliveries {
  @IsObject()
  @ValidateNested()
  @Type(() => ReplayFilter)
  filter!: ReplayFilter;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(replayedMax)
  limit?: number;

  /** Counts them, and sends none. */
  @IsOptional()
  @IsBoolean()
  dry_run?: boolean;
}

export const DeliveryListing = queryReadBy(readDeliveryQuery);

const names = ['status', 'reactor_id', 'host', 'trace_id'];

function readDeliveryQuery(query: URLSearchParams): DeliveryQuery {
  const errors: Record<string, string[]> = {};
  const filters = new QueryFilters(query, errors);
  const result = {
    ...readCursorQuery(query, errors, filters, names),
    status: filters.oneOf('status', deliveryStatuses),
    reactorId: filters.uuid('reactor_id'),
    host: filters.text('host', hostMax),
    traceId: filters.text('trace_id', traceIdMax),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return result;
}

export function toDeliveryResponse(row: DeliveryRow, host: string): DeliveryResponse {
  return {
    id: row.id,
    run_id: row.runId,
    ...(row.reactorId === null ? {} : { reactor_id: row.reactorId }),
    webhook_id: row.webhookId,
    host,
    status: row.status,
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    attempts: row.attempts,
    replayable: row.isReplayable,
    ...(row.nextAttemptAt === null ? {} : { next_attempt_at: row.nextAttemptAt.toISOString() }),
    created_at: row.createdAt.toISOString(),
    ...(row.endedAt === null ? {} : { ended_at: row.endedAt.toISOString() }),
  };
}
