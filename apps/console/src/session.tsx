import { createContext, useContext } from 'react';
import { ask, sessionKey, setKeyHeader } from './api';
import type { Session } from './api-types';

export interface ConsoleFacts {
  api_key_header: string;
  oidc: boolean;
  version: string;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('There is no session.');
  return session;
}

/** Whether the person may do this: the API decides, the page only leaves out what would be refused. */
export const useMay = (permission: string): boolean =>
  useSession().permissions.includes(permission);

export async function consoleFacts(): Promise<ConsoleFacts> {
  const { body } = await ask<ConsoleFacts>('/console');
  setKeyHeader(body.api_key_header);
  return body;
}

/** A code works once: for it there is a key, which lives as long as this tab and its session. */
export async function signIn(code: string): Promise<Session> {
  const { body } = await ask<Session & { key: string }>('/console/sessions', {
    method: 'POST',
    body: { code },
  });
  const { key, ...session } = body;
  sessionKey.set(key);
  return session;
}

export const currentSession = async (): Promise<Session> =>
  (await ask<Session>('/console/session')).body;

export async function signOut(): Promise<void> {
  await ask('/console/session', { method: 'DELETE' });
  sessionKey.forget();
}

/**
 * Takes the code, or why there is none, out of the address and the history: what stays there could
 * be read by whoever uses the browser next.
 */
export function takeFragment(): { code: string | undefined; refused: string | undefined } {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get('code') ?? undefined;
  const refused = given.get('refused') ?? undefined;
  if (code !== undefined || refused !== undefined) {
    history.replaceState(null, '', location.pathname + location.search);
  }
  return { code, refused };
}
