import {
  DatabaseError,
  Query,
  type Client,
  type ClientBase,
  type Connection,
  type QueryResult,
} from 'pg';

/** Makes row-level security show this tenant's rows alone until the end of the transaction. */
const tenantEntry = `SELECT set_config('glovebox.tenant_id', $1, true)`;

type Done = (error: Error | null | undefined, result: QueryResult) => void;

/** The driver's query, with the methods that its client calls. Its types name `submit` alone. */
interface DriverQuery {
  queryMode: 'extended' | undefined;
  submit(connection: Connection): unknown;
  handleDataRow(row: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
}
const DriverQuery = Query as unknown as new (
  text: string,
  values: readonly unknown[],
  done: Done,
) => DriverQuery;

/**
 * A statement that sends the entry of its tenant ahead of it. Postgres executes the messages in
 * their order, and all before one Sync as one transaction. If the entry fails, Postgres skips the
 * statement. The end of the transaction takes the tenant away.
 */
class TenantStatement extends DriverQuery {
  #entered = false;

  constructor(
    private readonly tenantId: string,
    text: string,
    values: readonly unknown[],
    done: Done,
  ) {
    // The statement has no name: the driver would take the parsing of the entry for that of the
    // statement.
    super(text, values, done);
    // A simple query sends no Sync, and after an error Postgres skips everything until one.
    this.queryMode = 'extended';
  }

  override submit(connection: Connection): unknown {
    const { stream } = connection;
    stream.cork();
    try {
      connection.parse({ name: '', text: tenantEntry, types: [] }, true);
      connection.bind({ values: [this.tenantId] }, true);
      connection.execute(null, true);
      return super.submit(connection);
    } finally {
      stream.uncork();
    }
  }

  /** Skips the row and the completion of the entry. */
  override handleDataRow(row: unknown): void {
    if (this.#entered) super.handleDataRow(row);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#entered) super.handleCommandComplete(message, connection);
    else this.#entered = true;
  }
}

/**
 * Runs a statement as the tenant, in one round trip. It is a transaction of its own, committed
 * before its rows are handed over. A statement that begins a transaction keeps the tenant until the
 * end of that one. A connection that ends, or that does not answer in time, is not used again.
 */
export function queryAsTenant(
  client: ClientBase,
  tenantId: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    const done: Done = (error, result) => {
      if (!error) return resolve(result);
      if (!isAnswer(error)) void (client as Client).end();
      reject(error);
    };
    client.query(new TenantStatement(tenantId, text, values, done));
  });
}

/** Postgres sends a 57P01 and the like when it ends a connection. */
const isAnswer = (error: Error): boolean =>
  error instanceof DatabaseError && error.code?.startsWith('57P') !== true;
