import { useState } from 'react';
import { TextField } from '../parts/fields';
import { Text } from '../parts/text';

interface Configured {
  /** Names that may have a value. */
  names: readonly string[];
  /** Those that have one. */
  set: readonly string[];
  /** New values that were typed and are not saved. Null: the value is removed. */
  typed: Readonly<Record<string, unknown>>;
  change: (typed: Record<string, unknown> | undefined) => void;
  faultOf?: (name: string) => string | undefined;
  isReadOnly: boolean;
  /** The names are free, so that values come and go. */
  isFree?: boolean;
}

/** Values of the configuration go in, and never come out: they are set or not set. */
export function Configuration(configured: Configured) {
  const { names, set, typed, change, isReadOnly, isFree } = configured;
  const [added, setAdded] = useState('');
  const all = [...new Set([...names, ...Object.keys(typed)])];
  const type = (name: string, value: string | null) => change({ ...typed, [name]: value });
  const leave = (name: string) => {
    const { [name]: _, ...others } = typed;
    change(Object.keys(others).length === 0 ? undefined : others);
  };
  return (
    <div className="panel">
      {all.length === 0 && <p className="quiet">No configuration.</p>}
      {all.map((name) => (
        <Value
          key={name}
          name={name}
          isSet={set.includes(name)}
          typed={typed[name]}
          fault={configured.faultOf?.(name)}
          type={(value) => type(name, value)}
          leave={() => leave(name)}
          isReadOnly={isReadOnly}
          isFree={isFree ?? false}
        />
      ))}
      {isFree && !isReadOnly && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            if (added.trim() !== '') type(added.trim(), '');
            setAdded('');
          }}
        >
          <TextField label="Name of another value" value={added} change={setAdded} />
          <button type="submit" disabled={added.trim() === ''}>
            Add
          </button>
        </form>
      )}
    </div>
  );
}

function Value({
  name,
  isSet,
  typed,
  fault,
  type,
  leave,
  isReadOnly,
  isFree,
}: {
  name: string;
  isSet: boolean;
  typed: unknown;
  fault: string | undefined;
  type: (value: string | null) => void;
  leave: () => void;
  isReadOnly: boolean;
  isFree: boolean;
}) {
  const ofName = <span className="unseen"> {name}</span>;
  return (
    <div className="row">
      <code>
        <Text>{name}</Text>
      </code>
      <span className="quiet">
        {typed === null ? 'will be removed' : isSet ? 'set' : 'not set'}
      </span>
      {fault !== undefined && typed === undefined && <span className="bad fault">{fault}</span>}
      {!isReadOnly && typed === undefined && (
        <>
          <button type="button" onClick={() => type('')}>
            {isSet ? 'Replace' : 'Set'}
            {ofName}
          </button>
          {isFree && isSet && (
            <button type="button" onClick={() => type(null)}>
              Remove
              {ofName}
            </button>
          )}
        </>
      )}
      {!isReadOnly && typeof typed === 'string' && (
        <TextField
          label={`New value of ${name}`}
          type="password"
          value={typed}
          change={type}
          fault={fault}
        />
      )}
      {!isReadOnly && typed !== undefined && (
        <button type="button" onClick={leave}>
          {isSet ? 'Leave as it is' : 'Leave out'}
          <span className="unseen">: {name}</span>
        </button>
      )}
    </div>
  );
}
