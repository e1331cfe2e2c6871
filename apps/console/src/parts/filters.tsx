import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId } from 'react';

export type Filter = { name: string; label: string } & (
  | { kind: 'text' | 'time' }
  | { kind: 'choice'; choices: readonly string[] }
);

export type Search = Record<string, string | undefined>;

/** The filters of a screen are its URL: it can be kept, sent and gone back to. */
export function useFilters(): [Search, (change: Search) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (change: Search) => {
    const next = Object.entries({ ...search, ...change }).filter(([, value]) => value);
    void navigate({ to: '.', search: Object.fromEntries(next), replace: true });
  };
  return [search, set];
}

export function Filters({ filters }: { filters: readonly Filter[] }) {
  const [search, set] = useFilters();
  const isSet = filters.some(({ name }) => search[name]);
  return (
    <form className="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      {filters.map((filter) => (
        <Field
          key={`${filter.name} ${search[filter.name] ?? ''}`}
          filter={filter}
          value={search[filter.name] ?? ''}
          set={(value) => set({ [filter.name]: value })}
        />
      ))}
      {isSet && (
        <button
          type="button"
          onClick={() => set(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
        >
          Clear
        </button>
      )}
    </form>
  );
}

interface FieldShown {
  filter: Filter;
  value: string;
  set: (value: string) => void;
}

function Field({ filter, value, set }: FieldShown) {
  const id = useId();
  const label = <label htmlFor={id}>{filter.label}</label>;
  if (filter.kind === 'choice') {
    return (
      <div>
        {label}
        <select id={id} value={value} onChange={({ target }) => set(target.value)}>
          <option value="">any</option>
          {filter.choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice.replaceAll('_', ' ').replaceAll(',', ' or ')}
            </option>
          ))}
        </select>
      </div>
    );
  }
  const isTime = filter.kind === 'time';
  const take = (text: string) => {
    const next = isTime ? asIso(text) : text.trim();
    if (next !== value) set(next);
  };
  return (
    <div>
      {label}
      <input
        id={id}
        type={isTime ? 'datetime-local' : 'text'}
        step={isTime ? 1 : undefined}
        defaultValue={isTime ? asLocal(value) : value}
        autoComplete="off"
        spellCheck={false}
        onBlur={({ target }) => take(target.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && take(currentTarget.value)}
      />
    </div>
  );
}

const asIso = (local: string) => (local ? new Date(local).toISOString() : '');

function asLocal(iso: string): string {
  const date = new Date(iso);
  if (!iso || Number.isNaN(date.getTime())) return '';
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}
