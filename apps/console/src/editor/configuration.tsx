import { useState } from 'react';
import { TextField } from '../parts/fields';
import { Text } from '../parts/text';

interface Configured {
  /** Names that may have a value. */
  names: readonly string[];
  /** Those that have one. */
  set: readonly string[];
  /** New values that were typed and are not saved. */
  typed: Readonly<Record<string, unknown>>;
  change: (typed: Record<string, unknown> | undefined) => void;
  isReadOnly: boolean;
  mayAdd?: boolean;
}

/** Values of the configuration go in, and never come out: they are set or not set. */
export function Configuration({ names, set, typed, change, isReadOnly, mayAdd }: Configured) {
  const [added, setAdded] = useState('');
  const all = [...new Set([...names, ...Object.keys(typed)])];
  const type = (name: string, value: string) => change({ ...typed, [name]: value });
  const leave = (name: string) => {
    const { [name]: _, ...others } = typed;
    change(Object.keys(others).length === 0 ? undefined : others);
  };
  return (
    <div className="panel">
      {all.length === 0 && <p className="quiet">No configuration.</p>}
      {all.map((name) => (
        <div key={name} className="row">
          <code>
            <Text>{name}</Text>
          </code>
          <span className="quiet">{set.includes(name) ? 'set' : 'not set'}</span>
          {!isReadOnly &&
            (name in typed ? (
              <>
                <TextField
                  label={`New value of ${name}`}
                  type="password"
                  value={String(typed[name])}
                  change={(value) => type(name, value)}
                />
                <button type="button" onClick={() => leave(name)}>
                  Leave as it is
                </button>
              </>
            ) : (
              <button type="button" onClick={() => type(name, '')}>
                {set.includes(name) ? 'Replace' : 'Set'}
                <span className="unseen"> {name}</span>
              </button>
            ))}
        </div>
      ))}
      {mayAdd && !isReadOnly && (
        <div className="row">
          <TextField label="Name of another value" value={added} change={setAdded} />
          <button
            type="button"
            disabled={added.trim() === ''}
            onClick={() => {
              type(added.trim(), '');
              setAdded('');
            }}
          >
            Add
          </button>
        </div>
      )}
    </div>
  );
}
