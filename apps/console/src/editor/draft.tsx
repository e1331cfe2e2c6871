import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ask, Refused, type Answer } from '../api';
import { Dialog } from '../parts/dialog';
import { ProblemBox } from '../parts/states';
import { CodeDiff } from './code';

type Changes = Record<string, unknown>;

/** A resource with its version, which a change has to name. */
export const useVersion = <Resource,>(path: string, isWanted = true) =>
  useQuery({
    queryKey: ['version', path],
    queryFn: ({ signal }) => ask<Resource>(path, { signal }),
    enabled: isWanted,
    refetchOnWindowFocus: false,
    // An editor begins with the version of now, and not with one that was read a while ago.
    gcTime: 0,
  });

/**
 * What somebody types over a version of a resource. Nothing but saving or giving up ends it: it
 * stays when the API is away, when the session ends, and when somebody else was faster.
 */
export function useDraft<Resource extends object>(path: string, first: Answer<Resource>) {
  const client = useQueryClient();
  const [base, setBase] = useState(first);
  const [changes, setChanges] = useState<Changes>({});
  const [theirs, setTheirs] = useState<Answer<Resource>>();
  const isChanged = Object.keys(changes).length > 0;

  const save = useMutation({
    mutationFn: async () => {
      await ask(path, { method: 'PATCH', body: changes, ifMatch: base.etag });
      return ask<Resource>(path);
    },
    onSuccess: (saved) => {
      setBase(saved);
      setChanges({});
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'version' });
    },
    onError: async (error) => {
      if (!(error instanceof Refused) || error.problem.status !== 412) return;
      setTheirs(await ask<Resource>(path));
    },
  });

  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isChanged]);

  return {
    base: base.body,
    now: { ...base.body, ...changes } as Resource,
    changes,
    theirs: theirs?.body,
    isChanged,
    save,
    /** A member that is as it was is no change. */
    change: (member: string, value: unknown) =>
      setChanges((before) => {
        const next = { ...before, [member]: value };
        if (isSame(value, base.body[member as keyof Resource])) delete next[member];
        return next;
      }),
    discard: () => {
      setChanges({});
      save.reset();
    },
    /** Goes on from their version; what was typed stays typed, or goes. */
    goOn: (withMine: boolean) => {
      if (theirs) setBase(theirs);
      if (!withMine) setChanges({});
      setTheirs(undefined);
      save.reset();
    },
  };
}

type Draft = ReturnType<typeof useDraft<object>>;

/** Saves a draft after its changes were shown, and never over what somebody else has saved. */
export function SaveBar({
  draft,
  what,
  mayEdit,
}: {
  draft: Draft;
  what: string;
  mayEdit: boolean;
}) {
  const [isReviewing, setReviewing] = useState(false);
  const { save, isChanged, theirs, base, now, changes } = draft;
  if (!mayEdit)
    return <p className="save-bar quiet">You may read this {what}, and not change it.</p>;
  const members = Object.keys(changes);
  return (
    <div className="save-bar">
      <button
        type="button"
        className="primary"
        disabled={!isChanged}
        onClick={() => {
          save.reset();
          setReviewing(true);
        }}
      >
        Review and save…
      </button>
      {isChanged && (
        <button type="button" onClick={draft.discard}>
          Discard changes
        </button>
      )}
      <span role="status" className="quiet">
        {isChanged
          ? 'There are unsaved changes.'
          : save.isSuccess
            ? 'Saved. It counts from the next call.'
            : ''}
      </span>
      {isReviewing && theirs === undefined && (
        <Dialog title={`Save this ${what}`} isWide close={() => setReviewing(false)}>
          <Versions
            members={members}
            before={base}
            after={now}
            heads={['As it is', 'As you want it']}
          />
          <ProblemBox error={save.error} />
          <div className="row">
            <button
              type="button"
              className="primary"
              disabled={save.isPending}
              onClick={() => save.mutate(undefined, { onSuccess: () => setReviewing(false) })}
            >
              {save.isPending ? 'Saving…' : 'Save'}
            </button>
            <button type="button" onClick={() => setReviewing(false)}>
              Go on editing
            </button>
          </div>
        </Dialog>
      )}
      {theirs !== undefined && (
        <Dialog title={`Somebody else has changed this ${what}`} isWide>
          <p>Nothing was overwritten. Both versions, side by side:</p>
          <Versions members={members} before={theirs} after={now} heads={['Theirs', 'Yours']} />
          <div className="row">
            <button
              type="button"
              className="primary"
              onClick={() => {
                draft.goOn(true);
                setReviewing(false);
              }}
            >
              Go on with yours
            </button>
            <button
              type="button"
              onClick={() => {
                draft.goOn(false);
                setReviewing(false);
              }}
            >
              Take theirs
            </button>
          </div>
          <p className="quiet">Yours is saved only when you review and save it again.</p>
        </Dialog>
      )}
    </div>
  );
}

interface Compared {
  members: readonly string[];
  before: object;
  after: object;
  heads: [string, string];
}

function Versions({ members, before, after, heads }: Compared) {
  return members.map((member) => (
    <section key={member} aria-label={member.replaceAll('_', ' ')}>
      <h3>{member.replaceAll('_', ' ')}</h3>
      {member === 'configuration' ? (
        <p>
          {Object.keys((after as { configuration: object }).configuration).join(', ')} will be set
          anew. Values are never shown.
        </p>
      ) : (
        <>
          <p className="diff-heads" aria-hidden="true">
            <span>{heads[0]}</span>
            <span>{heads[1]}</span>
          </p>
          <CodeDiff before={asText(before, member)} after={asText(after, member)} />
        </>
      )}
    </section>
  ));
}

/** Code as code, everything else as JSON. */
function asText(resource: object, member: string): string {
  const value: unknown = resource[member as keyof typeof resource];
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && 'code' in value && typeof value.code === 'string') {
    const { code, ...others } = value;
    return `// ${JSON.stringify(others)}\n${code}`;
  }
  return JSON.stringify(value, null, 2);
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
