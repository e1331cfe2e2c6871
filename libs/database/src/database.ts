import { Pool, type PoolClient } from 'pg';
import { Shares } from '@glovebox/shares';
import { parseStoreUrl, trustFault, withoutLogin } from '@glovebox/store-urls';
import { queryAsTenant } from './as-tenant';
import { asUnavailable } from './unavailable';

/** A statement that Postgres parses once per connection and then knows by its name. */
export interface PreparedStatement {
  readonly name: string;
  readonly text: string;
}

export type Statement = string | PreparedStatement;

/** Runs statements: a pool, a connection in a transaction, or TypeORM's query runner. */
export interface Sql {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** A pool of connections, or a tenant's share of one. */
export interface SqlPool extends Sql {
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/** Serves the process itself where it is called directly, and a tenant through `shareOf`. */
export interface Database extends SqlPool {
  /** The tenant's share: each statement and each transaction takes one of its places. */
  shareOf(tenantId: string): SqlPool;
  /**
   * A view in which row-level security shows the tenant's rows alone. Each statement is a
   * transaction of its own. What it has recorded stays, even where its caller refuses the rows.
   */
  viewOf(tenantId: string): Sql;
  readonly shares: Shares;
  close(): Promise<void>;
}

/** Time that a tenant waits for a connection while it holds its share of them. */
const connectionWaitMs = 2_000;
/** Statements and transactions of one tenant that wait, in one process. */
const connectionsWaitingMax = 200;

/**
 * A plan is made once for a connection, maybe while the queues are empty. Then a walk over a whole
 * table looks cheap, and stays when the table has filled. What cannot do without counts as so
 * expensive that it would be compiled.
 */
const queueOptions = ['plan_cache_mode=force_generic_plan', 'jit=off']
  .concat(
    ['sort', 'seqscan', 'hashjoin', 'mergejoin', 'material'].map((way) => `enable_${way}=off`),
  )
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** Shares out the connections of a pool between tenants, so that the pool itself has no queue. */
export const connectionShares = (connectionsMax: number): Shares =>
  new Shares({
    places: connectionsMax,
    waitMs: connectionWaitMs,
    waitingMax: connectionsWaitingMax,
  });

interface DatabaseOptions {
  readonly url: string;
  readonly app: string;
  readonly connectionsMax: number;
  /** Postgres ends a statement that takes longer. */
  readonly statementTimeoutMs?: number;
  /**
   * The tables are queues, and the statistics of Postgres those of another moment. It plans a
   * prepared statement once, and is told to step through indexes, whatever it expects to find.
   */
  readonly readsQueues?: boolean;
  /** Called with the error of a connection that is not in use. */
  readonly onIdleError?: (error: Error) => void;
}

export function connectDatabase(options: DatabaseOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5_000;
  const { url, tls } = parseStoreUrl(options.url);
  const store = `Postgres at ${withoutLogin(url)}`;
  const pool = new Pool({
    connectionString: url,
    ...(tls && { ssl: tls }),
    application_name: options.app,
    max: options.connectionsMax,
    connectionTimeoutMillis: 2_000,
    statement_timeout: statementTimeoutMs,
    ...(options.readsQueues && { options: queueOptions }),
    // A half-open connection never answers. The client gives up a little later than the server
    // would.
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
  });
  pool.on('error', (error) => options.onIdleError?.(error));

  const run = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      throw asUnavailable(trustFault(store, error) ?? error);
    });
  const whole: SqlPool = {
    query: (statement, values) => run(rowsOf(pool, statement, values)),
    transaction: (work) => run(inTransaction(pool, work)),
  };
  const shares = connectionShares(options.connectionsMax);
  const shareOf = (owner: string): SqlPool => ({
    query: (statement, values) => shares.hold(owner, () => whole.query(statement, values)),
    transaction: (work) => shares.hold(owner, () => whole.transaction(work)),
  });
  return {
    ...whole,
    shares,
    shareOf,
    viewOf: (tenantId) => ({
      query: (statement, values) => run(rowsAsTenant(pool, tenantId, statement, values)),
    }),
    close: () => pool.end(),
  };
}

async function rowsOf<Row>(
  client: Pool | PoolClient,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const config = typeof statement === 'string' ? { text: statement } : statement;
  return (await client.query({ ...config, values: [...values] })).rows as Row[];
}

async function rowsAsTenant<Row>(
  pool: Pool,
  tenantId: string,
  statement: Statement,
  values?: readonly unknown[],
): Promise<Row[]> {
  const text = typeof statement === 'string' ? statement : statement.text;
  const { rows } = await onConnection(pool, (client) =>
    queryAsTenant(client, tenantId, text, values),
  );
  return rows as Row[];
}

function inTransaction<Result>(pool: Pool, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  return onConnection(pool, async (client, onBroken) => {
    try {
      await client.query('BEGIN');
      const result = await work(sqlOf(client));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: unknown) => {
        onBroken(failure instanceof Error ? failure : new Error('ROLLBACK failed'));
      });
      throw error;
    }
  });
}

/** Does not use a connection again that broke meanwhile. */
async function onConnection<Result>(
  pool: Pool,
  work: (client: PoolClient, onBroken: (error: Error) => void) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A server that ends the connection between two statements reports it here alone.
  const onError = (error: Error): void => void (broken ??= error);
  client.on('error', onError);
  try {
    return await work(client, onError);
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

function sqlOf(client: PoolClient): Sql {
  return { query: (statement, values) => rowsOf(client, statement, values) };
}
