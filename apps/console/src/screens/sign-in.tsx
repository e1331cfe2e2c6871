import { useMutation } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import { sessionKey } from '../api';
import type { Session } from '../api-types';
import { ProblemBox } from '../parts/states';
import { Text } from '../parts/text';
import {
  goToIssuer,
  signIn,
  signOut,
  takeBinding,
  type ConsoleFacts,
  type GivenCode,
} from '../session';

/** A window that signs in by name hands its code to the tab that asked for it. */
const handOver = 'glovebox.sign-in';
const popupPath = '/sign-in?for=tab';

/** Why the issuer's answer signed nobody in. */
const refusals: Record<string, string> = {
  denied: 'The provider of identities did not let you in.',
  expired: 'The sign-in took too long, or was begun elsewhere. Begin again.',
  no_role: 'Your account has no role in this console. Ask its operator for one.',
  issuer:
    'The provider of identities gave no usable answer. The log of the management API says why.',
};

interface Props {
  facts: ConsoleFacts;
  refused?: string | undefined;
  error?: Error | undefined;
  /** Within the screen of a session that has ended: nothing of it may go. */
  isWithin?: boolean;
  mustBe?: Session;
  signedIn: (session: Session) => void;
}

export function SignIn({ facts, refused, error, isWithin, mustBe, signedIn }: Props) {
  const field = useId();
  const [link, setLink] = useState('');
  const enter = useMutation({
    mutationFn: async (given: GivenCode) => {
      const session = await signIn(given);
      if (mustBe && session.tenant.id !== mustBe.tenant.id) {
        await signOut();
        throw new Error('This link is of another tenant. Reload the page to change to it.');
      }
      return session;
    },
    onSuccess: signedIn,
  });
  useEffect(() => {
    if (!isWithin) document.title = 'Sign in · Glovebox';
    const channel = new BroadcastChannel(handOver);
    channel.onmessage = ({ data }: MessageEvent<GivenCode>) => {
      if (!sessionKey.get()) enter.mutate(data);
    };
    if (isWithin) sessionKey.forget();
    return () => channel.close();
    // The tab listens as long as it is signed out.
  }, []);

  const form = (
    <>
      {facts.oidc && (
        <p>
          <button
            type="button"
            className="primary"
            onClick={isWithin ? () => window.open(popupPath, '_blank', 'popup') : goToIssuer}
          >
            Sign in by name
          </button>
        </p>
      )}
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          enter.mutate({ code: codeOf(link) });
        }}
      >
        <label htmlFor={field}>Link or code</label>
        <input
          id={field}
          value={link}
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="http://…/#code=…"
          onChange={({ target }) => setLink(target.value)}
        />
        <button type="submit" className={facts.oidc ? '' : 'primary'} disabled={enter.isPending}>
          {enter.isPending ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <p className="quiet">
        <code>npm run console:link</code> prints a link. It works once, for five minutes.
      </p>
      {refused !== undefined && (
        <div className="notice bad" role="alert">
          You are not signed in. <Text>{refusals[refused] ?? refused}</Text>
        </div>
      )}
      {/* A new try says more than what was refused before. */}
      <ProblemBox error={enter.error ?? (enter.isIdle ? error : null)} />
    </>
  );
  if (isWithin) return form;
  return (
    <main className="sign-in">
      <h1>Glovebox</h1>
      <p>See every call, know why it failed, mend it.</p>
      {form}
    </main>
  );
}

/**
 * In a window that was opened to sign in by name: goes to the issuer, and back from there gives the
 * code to the tab that waits. It knows itself by its storage, since the issuer is of another origin.
 */
export function signsInForAnotherTab(code: string | undefined): boolean {
  if (location.pathname + location.search === popupPath) {
    sessionStorage.setItem(handOver, 'wanted');
    goToIssuer();
    return true;
  }
  if (code === undefined || sessionStorage.getItem(handOver) === null) return false;
  new BroadcastChannel(handOver).postMessage({ code, binding: takeBinding() });
  window.close();
  return true;
}

function codeOf(text: string): string {
  const [, code] = /[#&]code=([^&\s]+)/.exec(text) ?? [];
  return code === undefined ? text.trim() : decodeURIComponent(code);
}
