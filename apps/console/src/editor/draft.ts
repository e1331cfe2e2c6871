import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ask, attemptKey, Refused, type Answer } from '../api';
import { useUnsaved } from '../parts/unsaved';

type Changes = Record<string, unknown>;

/** A resource with its version, which a change has to name. */
export const useVersion = <Resource>(path: string, isWanted = true) =>
  useQuery({
    queryKey: ['version', path],
    queryFn: ({ signal }) => ask<Resource>(path, { signal }),
    enabled: isWanted,
    refetchOnWindowFocus: false,
    // An editor begins with the version of now, and not with one that was read a while ago.
    gcTime: 0,
  });

/** What a form shows and changes: a draft over a version, or of what is to be made. */
export interface Edited<Resource> {
  now: Resource;
  changes: Changes;
  change: (member: string, value: unknown) => void;
  /** Why the API has refused it. */
  error: Error | null;
}

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
  useUnsaved(isChanged);

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

  return {
    base: base.body,
    etag: base.etag,
    now: { ...base.body, ...changes } as Resource,
    changes,
    theirs: theirs?.body,
    isChanged,
    save,
    error: save.error,
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
    /** Takes the version that this page itself has made, by something that is no member of it. */
    follow: async () => {
      const now = await ask<Resource>(path);
      setBase((before) => (isSame(unstamped(now.body), unstamped(before.body)) ? now : before));
    },
  };
}

export type Draft = ReturnType<typeof useDraft<object>>;

/** What is to be made, and is nowhere but in this form until then. */
export function useCreation<Resource extends object, Made extends object = Resource>(
  path: string,
  empty: Resource,
  made?: (resource: Made) => void,
) {
  const client = useQueryClient();
  const [changes, setChanges] = useState<Changes>({});
  const attempt = useRef<{ text: string; key: string }>(undefined);
  const now = { ...empty, ...changes } as Resource;
  const make = useMutation({
    mutationFn: async () => {
      const body = withoutEmpty(now);
      const text = JSON.stringify(body);
      // Sent again after no answer, it makes nothing twice.
      if (attempt.current?.text !== text) attempt.current = { text, key: attemptKey() };
      const { key: idempotencyKey } = attempt.current;
      return (await ask<Made>(path, { method: 'POST', body, idempotencyKey })).body;
    },
    onSuccess: (resource) => {
      void client.invalidateQueries();
      made?.(resource);
    },
    gcTime: 0,
  });
  useUnsaved(Object.keys(changes).length > 0 && !make.isSuccess);
  return {
    now,
    changes,
    make,
    error: make.error,
    change: (member: string, value: unknown) =>
      setChanges(({ [member]: _, ...others }) =>
        value === undefined ? others : { ...others, [member]: value },
      ),
  };
}

/** Members that were left empty are left out: the API has defaults for them. */
const withoutEmpty = (resource: object): object =>
  Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== null));

function unstamped(resource: object): object {
  const { modified_at: _, modified_by: __, ...members } = resource as Record<string, unknown>;
  return members;
}

const isSame = (one: unknown, other: unknown) =>
  (isNothing(one) && isNothing(other)) || JSON.stringify(one) === JSON.stringify(other);

const isNothing = (value: unknown) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
