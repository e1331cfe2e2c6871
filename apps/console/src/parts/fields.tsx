import { useId, type ReactNode } from 'react';

interface Field {
  label: string;
  hint?: ReactNode;
  isReadOnly?: boolean;
}

export function TextField({
  label,
  hint,
  isReadOnly,
  value,
  change,
  type = 'text',
}: Field & {
  value: string;
  change: (value: string) => void;
  type?: 'text' | 'number' | 'password';
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        value={value}
        readOnly={isReadOnly}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        spellCheck={false}
        onChange={({ target }) => change(target.value)}
      />
      {hint && <span className="quiet">{hint}</span>}
    </div>
  );
}

export function TextArea({
  label,
  hint,
  isReadOnly,
  value,
  change,
  rows = 6,
}: Field & { value: string; change: (value: string) => void; rows?: number }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        readOnly={isReadOnly}
        spellCheck={false}
        onChange={({ target }) => change(target.value)}
      />
      {hint && <span className="quiet">{hint}</span>}
    </div>
  );
}

export function Choice({
  label,
  hint,
  isReadOnly,
  value,
  choices,
  change,
}: Field & {
  value: string;
  choices: readonly (readonly [value: string, name: string])[];
  change: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
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
      {hint && <span className="quiet">{hint}</span>}
    </div>
  );
}

export function Tick({
  label,
  isReadOnly,
  value,
  change,
}: Field & { value: boolean; change: (value: boolean) => void }) {
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
