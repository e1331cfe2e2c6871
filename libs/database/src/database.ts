import { Pool, type PoolClient } from 'pg';
import { Shares } from '@glovebox/shares';
import { queryAsTenant } from './as-tenant';
import { asUnavailable } from './unavailable';

/** A statement that Postgres parses and plans once per connection, and then knows by its name. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

export type Statement = string | Prepared;

/** Whatever runs a statement: a pool, a connection in a transaction, TypeORM's query runner. */
export interface Sql {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** A pool of connections, or the part of it that one tenant gets. */
export interface SqlPool extends Sql {
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/** What is asked of it directly is the process's own work; a tenant's goes through `of`. */
export interface Database extends SqlPool {
  /** For what a tenant asks for: each statement and each transaction takes a place of its share. */
  of(tenantId: string): SqlPool;
  /**
   * Row-level security shows and takes the tenant's rows alone. Each statement is a transaction of its
   * own: a record that it has written stays, whatever its caller makes of the rows.
   */
  as(tenantId: string): Sql;
  readonly shares: Shares;
  close(): Promise<void>;
}

/** How long a tenant that holds its share of the connections waits for one of them. */
const connectionWaitMs = 2_000;
/** How many statements and transactions of one tenant may wait in one process. */
const connectionsWaitingMax = 200;

/** The connections of a pool, shared out between tenants: the pool itself then has no queue. */
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
  /** What happens to a connection that nobody uses right now. */
  readonly onIdleError?: (error: Error) => void;
}

export function connectDatabase(options: DatabaseOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5_000;
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.app,
    max: options.connectionsMax,
    connectionTimeoutMillis: 2_000,
    statement_timeout: statementTimeoutMs,
    // A half-open connection never answers: the client gives up a little later than the server would.
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
  });
  pool.on('error', (error) => options.onIdleError?.(error));

  const run = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      throw asUnavailable(error);
    });
  const whole: SqlPool = {
    query: (statement, values) => run(rowsOf(pool, statement, values)),
    transaction: (work) => run(inTransaction(pool, work)),
  };
  const shares = connectionShares(options.connectionsMax);
  const partOf = (owner: string): SqlPool => ({
    query: (statement, values) => shares.hold(owner, () => whole.query(statement, values)),
    transaction: (work) => shares.hold(owner, () => whole.transaction(work)),
  });
  return {
    ...whole,
    shares,
    of: partOf,
    as: (tenantId) => ({
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

/** A connection that broke meanwhile is not used again. */
async function onConnection<Result>(
  pool: Pool,
  work: (client: PoolClient, onBroken: (error: Error) => void) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A server that ends the connection between two statements says so here, and only here.
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
