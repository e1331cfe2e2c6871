import { useId, type ReactNode } from 'react';
import { Text } from './text';

interface Field {
  label: string;
  hint?: ReactNode;
  /** What the API has against the value. */
  fault?: string | undefined;
  isReadOnly?: boolean;
}

type Described = Pick<Field, 'label' | 'hint' | 'fault'>;

/** A label, the control, and below it what is wrong or what there is to know. */
function Labelled({
  label,
  hint,
  fault,
  children,
}: Described & {
  children: (control: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean | undefined;
  }) => ReactNode;
}) {
  const id = useId();
  const isDescribed = Boolean(fault) || Boolean(hint);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': isDescribed ? `${id}-about` : undefined,
        'aria-invalid': fault === undefined ? undefined : true,
      })}
      {isDescribed && (
        <span id={`${id}-about`}>
          {fault !== undefined && (
            <span className="bad fault">
              <Text>{fault}</Text>
            </span>
          )}
          {hint && <span className="quiet">{hint}</span>}
        </span>
      )}
    </div>
  );
}

export function TextField({
  isReadOnly,
  value,
  change,
  type = 'text',
  ...described
}: Field & {
  value: string;
  change: (value: string) => void;
  type?: 'text' | 'number' | 'password' | 'datetime-local';
}) {
  return (
    <Labelled {...described}>
      {(control) => (
        <input
          {...control}
          type={type}
          value={value}
          readOnly={isReadOnly}
          autoComplete={type === 'password' ? 'new-password' : 'off'}
          spellCheck={false}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Labelled>
  );
}

export function TextArea({
  isReadOnly,
  value,
  change,
  rows = 6,
  ...described
}: Field & { value: string; change: (value: string) => void; rows?: number }) {
  return (
    <Labelled {...described}>
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          value={value}
          readOnly={isReadOnly}
          spellCheck={false}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Labelled>
  );
}

/** A list of texts, one on each line. */
export const LinesField = ({
  value,
  change,
  ...field
}: Field & { value: readonly string[]; change: (lines: string[]) => void }) => (
  <TextArea
    {...field}
    rows={Math.max(2, value.length + 1)}
    value={value.join('\n')}
    change={(text) => change(text === '' ? [] : text.split('\n').map((line) => line.trim()))}
  />
);

export function Choice({
  isReadOnly,
  value,
  choices,
  change,
  ...described
}: Field & {
  value: string;
  choices: readonly (readonly [value: string, name: string])[];
  change: (value: string) => void;
}) {
  return (
    <Labelled {...described}>
      {(control) => (
        <select
          {...control}
          value={value}
          disabled={isReadOnly}
          onChange={({ target }) => change(target.value)}
        >
          {choices.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** A point in time, in the reader's zone. Empty: never. */
export const TimeField = ({
  value,
  change,
  ...field
}: Field & { value: string | null | undefined; change: (iso: string | null) => void }) => (
  <TextField
    {...field}
    type="datetime-local"
    value={value ? asLocal(value) : ''}
    change={(local) => change(local ? new Date(local).toISOString() : null)}
  />
);

function asLocal(iso: string): string {
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function Tick({
  label,
  isReadOnly,
  value,
  change,
}: {
  label: ReactNode;
  isReadOnly?: boolean;
  value: boolean;
  change: (value: boolean) => void;
}) {
  return (
    <label className="tick">
      <input
        type="checkbox"
        checked={value}
        disabled={isReadOnly}
        onChange={({ target }) => change(target.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
