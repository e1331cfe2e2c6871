import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ConsoleLine, Position, Problem } from '../api-types';
import { milliseconds } from '../format';
import { ConsoleLines } from '../parts/console-lines';
import { ProblemBox } from '../parts/states';
import { Text } from '../parts/text';
import { positionInWords } from '../why';

export interface Tried {
  status: 'completed' | 'failed';
  error?: Problem & { message?: string; stack?: (Position & { function?: string })[] };
  lines: (ConsoleLine & { side?: string })[];
  duration_ms: number;
}

/** What is given to unsaved code, the button that runs it, and what came of it. */
export function DryRun<Shown extends Tried>({
  about,
  run,
  children,
  shown,
}: {
  about: ReactNode;
  run: UseMutationResult<Shown, Error, void>;
  children: ReactNode;
  /** What it has made, beside its lines. */
  shown: (tried: Shown) => ReactNode;
}) {
  return (
    <form
      className="panel"
      aria-label="Dry run"
      onSubmit={(event) => {
        event.preventDefault();
        run.mutate();
      }}
    >
      <p className="quiet">{about} It is recorded in the audit log.</p>
      {children}
      <div className="row">
        <button type="submit" disabled={run.isPending}>
          {run.isPending ? 'Running…' : 'Dry run'}
        </button>
      </div>
      <div aria-live="polite">
        <ProblemBox error={run.error} />
        {run.data && (
          <>
            <Ending of={run.data} />
            {shown(run.data)}
            <h3>Output</h3>
            <ConsoleLines lines={run.data.lines} />
          </>
        )}
      </div>
    </form>
  );
}

function Ending({ of: { status, error, duration_ms } }: { of: Tried }) {
  if (status === 'completed' || error === undefined) {
    return (
      <p className="notice good">
        <strong>Completed</strong> in {milliseconds(duration_ms)}.
      </p>
    );
  }
  return (
    <div className="notice bad">
      <strong>Failed{error.position && ` at ${positionInWords(error.position)}`}.</strong>{' '}
      <Text>{error.message ?? error.detail ?? error.title}</Text>
      {error.stack && error.stack.length > 0 && (
        <ol className="stack">
          {error.stack.map((call, index) => (
            <li key={index}>
              <code>
                <Text>{call.function ?? 'anonymous'}</Text>
              </code>{' '}
              {positionInWords(call)}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

export function asObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('This has to be a JSON object.');
  }
  return value;
}
