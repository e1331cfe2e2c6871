import { IsBoolean, IsInt, IsOptional, Max, Min } from 'class-validator';
import type { CapturedMessages, CaptureRow } from '@glovebox/captures';
import type { CursorQuery } from '@glovebox/database';
import type { CaptureDefinition } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import { given } from '../calls/calls.dto';
import { queryReadBy } from '../http/request';
import { readCursorQuery } from '../lists/cursor';
import { QueryFilters } from '../lists/query-filters';

export const captureMinutesMax = 60;
export const captureMinutesDefault = 10;

export class StartCapture {
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(captureMinutesMax)
  minutes?: number;

  @IsOptional()
  @IsBoolean()
  whole?: boolean;
}

export interface CaptureWindow {
  readonly proxy_id: string;
  readonly until: string;
  readonly whole: boolean;
}

interface CaptureLine {
  readonly id: string;
  readonly proxy_id: string;
  readonly trace_id: string;
  readonly method: string;
  readonly status?: number;
  readonly code?: string;
  readonly whole: boolean;
  readonly bytes: number;
  readonly created_at: string;
}

export type CaptureResponse = CaptureLine & CapturedMessages;

export const CaptureListing = queryReadBy((query): CursorQuery => {
  const errors: Record<string, string[]> = {};
  const page = readCursorQuery(query, errors, new QueryFilters(query, errors), []);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return page;
});

/** Undefined where it is over. */
export function toWindow(definition: CaptureDefinition | undefined): CaptureWindow | undefined {
  if (!definition || Date.parse(definition.until) <= Date.now()) return undefined;
  const { id, until, whole } = definition;
  return { proxy_id: id, until, whole };
}

export const toCaptureLine = (row: CaptureRow): CaptureLine => ({
  id: row.id,
  proxy_id: row.proxyId,
  trace_id: row.traceId,
  method: row.method,
  ...given('status', row.status),
  ...given('code', row.code),
  whole: row.isWhole,
  bytes: row.bytes,
  created_at: row.createdAt.toISOString(),
});
