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

/** Of one sign-in by name: without it, the code that the issuer's answer leads to is worth nothing. */
export interface GivenCode {
  code: string;
  binding?: string | undefined;
}

/** A code works once: for it there is a key, which lives as long as this tab and its session. */
export async function signIn({ code, binding }: GivenCode): Promise<Session> {
  const { body } = await ask<Session & { key: string }>('/console/sessions', {
    method: 'POST',
    body: { code, binding },
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

const bindingItem = 'glovebox.sign-in-binding';

/** Goes to the issuer with a secret that stays in this tab: a code that a stranger began has another one. */
export function goToIssuer(): void {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const binding = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
  sessionStorage.setItem(bindingItem, binding);
  location.assign(`/api/console/oidc/start?binding=${binding}`);
}

export function takeBinding(): string | undefined {
  const binding = sessionStorage.getItem(bindingItem) ?? undefined;
  sessionStorage.removeItem(bindingItem);
  return binding;
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
