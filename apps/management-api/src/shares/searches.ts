import { connectDatabase, type Sql } from '@glovebox/database';
import { Shares } from '@glovebox/shares';

const searchStatementMs = 2_000;
const searchWaitMs = 2_000;
/** Waiting searches and lists of one tenant. */
const waitingSearchesMax = 20;
const waitingListsMax = 200;

/**
 * The cost of listing and searching tokens grows with the tenant's tokens. Both have connections of
 * their own, shared out between tenants, so that no other work waits for them. A list uses an index
 * and waits for lists alone. A list filtered by metadata is a search.
 */
export interface Searches {
  readonly shares: { readonly lists: Shares; readonly searches: Shares };
  /** Runs the work in a transaction that sees the tenant's rows alone. */
  list<Found>(tenantId: string, work: (sql: Sql) => Promise<Found>): Promise<Found>;
  search<Found>(tenantId: string, work: (sql: Sql) => Promise<Found>): Promise<Found>;
  close(): Promise<void>;
}

export function connectSearches(options: {
  readonly url: string;
  /** Each search or list holds one. */
  readonly connectionsMax: number;
  readonly onIdleError: (error: unknown) => void;
}): Searches {
  const searchesMax = Math.floor(options.connectionsMax / 2);
  const listsMax = options.connectionsMax - searchesMax;
  const database = connectDatabase({
    ...options,
    app: 'management-api-searches',
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
      shares.hold(tenantId, () => work(database.viewOf(tenantId)));
  return {
    shares: { lists, searches },
    list: inTurn(lists),
    search: inTurn(searches),
    close: () => database.close(),
  };
}
