import type { Place } from '@glovebox/seal';

/** As they were sent: an object, or a text whose expressions yield one. */
export type Arguments = Readonly<Record<string, unknown>> | string;

/** The place that a sealed column of a run is bound to, in the queue and where it is kept. */
export const runPlace = (
  tenantId: string,
  record: string,
  column: 'arguments' | 'callback_url',
): Place => ({ table: 'reactor_runs', column, tenantId, record });
