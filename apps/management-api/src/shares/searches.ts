import { connectDatabase, type Sql } from '@glovebox/database';
import { Shares } from '@glovebox/shares';

/** Connections for searches of tokens, and for lists of them; each one under way holds one. */
export const searchesMax = 4;
const listsMax = 8;
const searchStatementMs = 2_000;
const searchWaitMs = 2_000;
/** Of one tenant. */
const waitingSearchesMax = 20;
const waitingListsMax = 200;

/**
 * Lists and searches of tokens cost what the tenant's number of tokens costs. They have connections of
 * their own, shared out between the tenants, so that nothing else ever waits for one of them. A list
 * goes through an index and waits for lists alone; what looks for metadata is a search.
 */
export interface Searches {
  readonly shares: { readonly lists: Shares; readonly searches: Shares };
  /** Row-level security shows the tenant's rows alone. */
  list<Found>(tenantId: string, work: (sql: Sql) => Promise<Found>): Promise<Found>;
  search<Found>(tenantId: string, work: (sql: Sql) => Promise<Found>): Promise<Found>;
  close(): Promise<void>;
}

export function connectSearches(options: {
  readonly url: string;
  readonly onIdleError: (error: unknown) => void;
}): Searches {
  const database = connectDatabase({
    ...options,
    app: 'management-api-searches',
    connectionsMax: searchesMax + listsMax,
    statementTimeoutMs: searchStatementMs,
  });
  const lists = new Shares({
    places: listsMax,
    waitMs: searchWaitMs,
    waitingMax: waitingListsMax,
  });
  const searches = new Shares({
    places: searchesMax,
    waitMs: searchWaitMs,
    waitingMax: waitingSearchesMax,
  });
  const inTurn =
    (shares: Shares) =>
    <Found>(tenantId: string, work: (sql: Sql) => Promise<Found>): Promise<Found> =>
      shares.hold(tenantId, () => work(database.as(tenantId)));
  return {
    shares: { lists, searches },
    list: inTurn(lists),
    search: inTurn(searches),
    close: () => database.close(),
  };
}
