import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Away, Refused } from '../api';
import { explain } from '../why';
import { Id } from './facts';
import { Text } from './text';

/** Shows what was asked for, or that it is on its way, or why it cannot be shown. */
export function Loaded<Data>({
  query,
  rows = 8,
  children,
}: {
  query: UseQueryResult<Data>;
  /** The height that is kept free, so that nothing jumps. */
  rows?: number;
  children: (data: Data) => ReactNode;
}) {
  const { data, error } = query;
  if (data !== undefined) {
    return (
      <>
        {error instanceof Refused && <ProblemBox error={error} />}
        {children(data)}
      </>
    );
  }
  if (error && !(error instanceof Away)) return <ProblemBox error={error} />;
  return (
    <div className="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

/** Why a request of the page failed, in words, with what to do. */
export function ProblemBox({ error }: { error: Error | null | undefined }) {
  if (!error) return null;
  if (!(error instanceof Refused)) {
    return (
      <div className="notice bad" role="alert">
        <strong>
          {error instanceof Away ? 'Nothing was changed, as far as we know.' : 'Failed.'}
        </strong>{' '}
        <Text>{error.message}</Text>
      </div>
    );
  }
  const { problem, traceId } = error;
  const { todo } = explain(problem.code, problem.cause);
  const members = Object.entries(problem.errors ?? {});
  return (
    <div className="notice bad" role="alert">
      <strong>{problem.title}</strong> <Text>{problem.detail}</Text>
      {problem.position && (
        <p>
          Line {problem.position.line}, column {problem.position.column}.
        </p>
      )}
      {members.length > 0 && (
        <ul>
          {members.map(([name, messages]) => (
            <li key={name}>
              <code>
                <Text>{name}</Text>
              </code>
              : <Text>{messages.join('; ')}</Text>
            </li>
          ))}
        </ul>
      )}
      <p className="quiet">
        {todo} <code>{problem.code}</code>
        {traceId && (
          <>
            {' '}
            · trace <Id value={traceId} what="trace id" />
          </>
        )}
      </p>
    </div>
  );
}
