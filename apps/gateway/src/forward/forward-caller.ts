import type { IncomingMessage } from 'node:http';
import { isApiKey, requirePermission, type Principal } from '@glovebox/access';
import type { DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import { authenticateKey } from '../call/caller';
import type { GatewayContext } from '../context';
import type { Call } from '../observing/call';

/** The API key that a client of a forward proxy sends. Undefined: there is none. */
export function proxyAuthorizationOf({ rawHeaders: raw }: IncomingMessage): string | undefined {
  const lines: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() === 'proxy-authorization') lines.push(raw[at + 1] ?? '');
  }
  if (lines.length > 1) {
    throw new Problem('invalid_request', {
      detail: 'The header Proxy-Authorization is given more than once.',
    });
  }
  return lines[0] === undefined ? undefined : keyIn(lines[0]);
}

function keyIn(credentials: string): string | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(credentials) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const [, name = '', password = ''] =
    /^([^:]*):?(.*)$/s.exec(Buffer.from(value, 'base64').toString('utf8')) ?? [];
  return isApiKey(name) ? name : password;
}

/** Decides who calls, for each request anew. */
export function forwardCaller(
  ctx: GatewayContext,
  req: IncomingMessage,
  key: string | undefined,
  definitions: DefinitionSnapshot,
  call: Call,
): Principal {
  // Decided again: the key may have been revoked since.
  call.isKeyed = false;
  const caller = authenticateKey(ctx, key, req, definitions, call);
  call.isKeyed = true;
  requirePermission(caller, 'token:use');
  return caller;
}

const howTo =
  'Send the key of an application as Proxy-Authorization: as a Bearer token, or as the user name or the password of Basic.';

/** Asks a client for its key in the way that clients of proxies understand. */
export function askForKey(refused: unknown): unknown {
  if (!(refused instanceof Problem) || refused.code !== 'invalid_api_key') return refused;
  return new Problem('proxy_authentication_required', { detail: howTo });
}
