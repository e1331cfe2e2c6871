import { connectDatabase, enterTenant, type Sql } from '@glovebox/database';
import { Shares } from '@glovebox/shares';

/** Connections for lists and searches of tokens; each search under way holds one. */
export const searchesMax = 4;
export const searchStatementMs = 2_000;
export const searchWaitMs = 2_000;
/** Of one tenant. */
export const waitingSearchesMax = 20;

/**
 * Lists and searches of tokens cost what the tenant's number of tokens costs. They have connections of
 * their own, shared out between the tenants, so that nothing else ever waits for one of them.
 */
export interface Searches {
  readonly shares: Shares;
  /** A transaction in which row-level security shows the tenant's rows alone. */
  find<Found>(tenantId: string, work: (sql: Sql) => Promise<Found>): Promise<Found>;
  close(): Promise<void>;
}

export function connectSearches(options: {
  readonly url: string;
  readonly onIdleError: (error: unknown) => void;
}): Searches {
  const database = connectDatabase({
    ...options,
    app: 'management-api-searches',
    connectionsMax: searchesMax,
    statementTimeoutMs: searchStatementMs,
  });
  const shares = new Shares({
    places: searchesMax,
    waitMs: searchWaitMs,
    waitingMax: waitingSearchesMax,
  });
  return {
    shares,
    find: (tenantId, work) =>
      shares.hold(tenantId, () =>
        database.transaction(async (sql) => {
          await enterTenant(sql, tenantId);
          return work(sql);
        }),
      ),
    close: () => database.close(),
  };
}
