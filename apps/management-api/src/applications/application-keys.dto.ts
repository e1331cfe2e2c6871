import type { ApplicationKey } from '../entities/application-key.entity';

export interface ApplicationKeyResponse {
  id: string;
  /** Shown only by the call that created it. */
  key?: string;
  created_by?: string;
  created_at: string;
  /** Accurate to the minute. */
  last_used_at?: string;
}

export function toApplicationKeyResponse(row: ApplicationKey): ApplicationKeyResponse {
  return {
    id: row.id,
    ...(row.createdBy === null ? {} : { created_by: row.createdBy }),
    created_at: row.createdAt.toISOString(),
    ...(row.lastUsedAt === null ? {} : { last_used_at: row.lastUsedAt.toISOString() }),
  };
}
