import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { Away, reach, Refused, sessionKey } from './api';
import type { Session } from './api-types';
import { Dialog } from './parts/dialog';
import { SignIn } from './screens/sign-in';
import {
  consoleFacts,
  currentSession,
  SessionContext,
  signIn,
  takeBinding,
  type ConsoleFacts,
} from './session';

interface Given {
  code: string | undefined;
  refused: string | undefined;
}

const subscribe = (tell: () => void) => {
  reach.listeners.add(tell);
  return () => void reach.listeners.delete(tell);
};
export const useAway = () => useSyncExternalStore(subscribe, () => reach.away);
const useSessionOver = () => useSyncExternalStore(subscribe, () => reach.sessionOver);

const askAgainMs = 2000;
let begun: Promise<[ConsoleFacts, Session | undefined]> | undefined;

/** Once for the page, whatever renders twice: a code works a single time. */
function begin(given: Given): Promise<[ConsoleFacts, Session | undefined]> {
  begun ??= (async () => {
    const facts = await consoleFacts();
    if (given.code !== undefined)
      return [facts, await signIn({ code: given.code, binding: takeBinding() })];
    return [facts, sessionKey.get() ? await currentSession() : undefined];
  })();
  return begun;
}

/**
 * Shows its children to somebody who is signed in. When the session ends, it asks to sign in again
 * above the screen, which keeps what was typed.
 */
export function SignedIn({ given, children }: { given: Given; children: ReactNode }) {
  const [facts, setFacts] = useState<ConsoleFacts>();
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<Error>();
  const client = useQueryClient();
  const isOver = useSessionOver();

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const start = () =>
      void begin(given)
        .then(([facts, session]) => {
          setFacts(facts);
          setSession(session);
        })
        .catch((error: Error) => {
          begun = undefined;
          if (error instanceof Away) timer = setTimeout(start, askAgainMs);
          // The kept key is of a session that is over; a refused code is not tried again.
          if (error instanceof Refused) {
            sessionKey.forget();
            reach.set({ sessionOver: false });
            setError(given.code === undefined ? undefined : error);
            given.code = undefined;
            start();
          }
        });
    start();
    return () => clearTimeout(timer);
  }, [given]);

  const signedIn = (next: Session) => {
    reach.set({ sessionOver: false });
    setError(undefined);
    setSession(next);
    void client.invalidateQueries();
  };

  if (facts === undefined) return <Waiting />;
  if (session === undefined) {
    return <SignIn facts={facts} refused={given.refused} error={error} signedIn={signedIn} />;
  }
  return (
    <SessionContext value={session}>
      {children}
      {isOver && (
        <Dialog title="Your session has ended">
          <p>Sign in again: this screen, and what you typed, stays as it is.</p>
          <SignIn facts={facts} isWithin signedIn={signedIn} mustBe={session} />
        </Dialog>
      )}
    </SessionContext>
  );
}

function Waiting() {
  const isAway = useAway();
  return (
    <main className="sign-in">
      <h1>Glovebox</h1>
      <p role="status">
        {isAway ? 'The management API is away. This page asks again every 2 seconds.' : 'Loading…'}
      </p>
    </main>
  );
}
