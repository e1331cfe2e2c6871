import { mayBeData, Problem } from '@glovebox/problems';
import { isApiKey } from './api-key';

const spellings = {
  'API-KEY': /^([A-Z0-9][A-Z0-9-]{0,19})-API-KEY$/i,
  'PROXY-KEY': /^([A-Z0-9][A-Z0-9-]{0,19})-PROXY-KEY$/i,
} as const;
const longestSpelling = 30;

/**
 * Refuses a request by its API key: undefined if it has none. What is said of a key is read off its
 * form, which is public. All keys of the right form that open nothing are answered alike.
 *
 * @param rawHeaders name, value, name, value…
 */
export function invalidApiKey(key: string | undefined, rawHeaders: readonly string[]): Problem {
  const detail = key === undefined ? missingApiKey(rawHeaders) : faultOf(key);
  return new Problem('invalid_api_key', { detail });
}

function faultOf(key: string): string {
  if (key === '') return 'The API key is empty.';
  return isApiKey(key)
    ? 'No application has this key: it was revoked, it has expired, its application was deleted, or it is of another installation.'
    : 'This is no API key, or it is mistyped or cut off: a key is `key_` and 33 letters and digits, the last six of them a checksum.';
}

function missingApiKey(rawHeaders: readonly string[]): string {
  const send = 'Send the key of an application in the header SVC-API-KEY.';
  const hint = unreadSpelling('API-KEY', rawHeaders);
  if (hint !== undefined) return `${send} ${hint}`;
  const isBearer = rawHeaders.some(
    (name, at) => at % 2 === 0 && name.length === 13 && name.toLowerCase() === 'authorization',
  );
  return isBearer ? `Authorization is not read. ${send}` : send;
}

/** Ends a call whose application, or whose whole tenant, was deleted while it was under way. */
export const applicationDeleted = (): Problem =>
  new Problem('invalid_api_key', {
    detail: 'The application of this key was deleted during the call.',
  });

/** Refuses a call of `/proxy` that names no proxy. */
export function missingProxyKey(rawHeaders: readonly string[]): Problem {
  const send =
    'Send `key` of the proxy in the header SVC-PROXY-KEY, or as svc-proxy-key in the query.';
  const hint = unreadSpelling('PROXY-KEY', rawHeaders);
  return new Problem('proxy_key_missing', {
    detail: hint === undefined ? send : `${send} ${hint}`,
  });
}

/** Names a header that would hold the key if the operator allowed its prefix. */
function unreadSpelling(
  name: keyof typeof spellings,
  rawHeaders: readonly string[],
): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] ?? '';
    if (header.length > longestSpelling) continue;
    const [, prefix] = spellings[name].exec(header) ?? [];
    if (prefix === undefined || mayBeData(prefix)) continue;
    const shown = prefix.toUpperCase();
    return `${shown}-${name} is not read: ${shown} is missing in HEADER_PREFIXES, a setting of the operator.`;
  }
  return undefined;
}
