import type { Parameter } from '../api-types';
import { Table } from '../parts/table';

interface Declared {
  /** What they are names of. */
  caption: string;
  empty: string;
  what: string;
  types: readonly string[];
  /** Parameters of requests may be left out, and shown in logs. */
  hasFlags?: boolean;
  value: readonly Parameter[];
  change: (names: Parameter[]) => void;
  faultAt: (at: number) => string | undefined;
  isReadOnly: boolean;
}

/** The names that code declares, changed in place. */
export function DeclaredNames(declared: Declared) {
  const { caption, empty, what, types, hasFlags, value, change, faultAt, isReadOnly } = declared;
  const set = (at: number, part: Partial<Parameter>) =>
    change(value.map((name, place) => (place === at ? { ...name, ...part } : name)));
  const flag = (member: 'optional' | 'loggable', words: string) => ({
    head: words,
    cell: ({ name, at }: Row) => (
      <input
        type="checkbox"
        aria-label={`${words}: ${what} ${at + 1}`}
        checked={name[member] ?? false}
        disabled={isReadOnly}
        onChange={({ target }) => set(at, { [member]: target.checked })}
      />
    ),
  });
  return (
    <>
      <Table<Row>
        caption={caption}
        columns={[
          {
            head: 'Name',
            cell: ({ name, at }) => (
              <>
                <input
                  aria-label={`Name of ${what} ${at + 1}`}
                  aria-invalid={faultAt(at) === undefined ? undefined : true}
                  value={name.name}
                  readOnly={isReadOnly}
                  autoComplete="off"
                  spellCheck={false}
                  onChange={({ target }) => set(at, { name: target.value })}
                />
                {faultAt(at) && <span className="bad fault">{faultAt(at)}</span>}
              </>
            ),
          },
          {
            head: 'Type',
            cell: ({ name, at }) => (
              <select
                aria-label={`Type of ${what} ${at + 1}`}
                value={name.type}
                disabled={isReadOnly}
                onChange={({ target }) => set(at, { type: target.value })}
              >
                {types.map((type) => (
                  <option key={type}>{type}</option>
                ))}
              </select>
            ),
          },
          ...(hasFlags ? [flag('optional', 'Optional'), flag('loggable', 'Shown in logs')] : []),
          ...(isReadOnly
            ? []
            : [
                {
                  head: 'Remove',
                  cell: ({ at }: Row) => (
                    <button
                      type="button"
                      onClick={() => change(value.filter((_, place) => place !== at))}
                    >
                      Remove<span className="unseen"> {`${what} ${at + 1}`}</span>
                    </button>
                  ),
                },
              ]),
        ]}
        rows={value.map((name, at) => ({ name, at }))}
        keyOf={({ at }) => String(at)}
        empty={empty}
      />
      {!isReadOnly && (
        <div className="row below">
          <button
            type="button"
            onClick={() => change([...value, { name: '', type: types[0] ?? 'string' }])}
          >
            Add a {what}
          </button>
        </div>
      )}
    </>
  );
}

interface Row {
  name: Parameter;
  at: number;
}
