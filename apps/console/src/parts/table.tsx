import type { ReactNode } from 'react';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
  /** Gets the room that others leave. */
  isWide?: boolean;
}

interface Shown<Row> {
  caption: string;
  /** The caption is read aloud alone, where a heading beside the table says the same. */
  isCaptionHidden?: boolean;
  columns: Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: ReactNode;
}

/**
 * A table. On narrow screens each row stands as a block of its own, and each value behind its name:
 * the roles say that it is a table there, too.
 */
export function Table<Row>({ caption, isCaptionHidden, columns, rows, keyOf, empty }: Shown<Row>) {
  if (rows.length === 0) return <div className="empty">{empty}</div>;
  return (
    <table role="table">
      <caption className={isCaptionHidden ? 'unseen' : undefined}>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, ...column }) => (
            <th key={head} role="columnheader" scope="col" className={classOf(column)}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ head, cell, ...column }) => (
              <td key={head} role="cell" data-head={head} className={classOf(column)}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const classOf = ({ isNumber, isWide }: { isNumber?: boolean; isWide?: boolean }) =>
  isNumber ? 'number' : isWide ? 'wide' : undefined;
