import { Problem } from '@glovebox/problems';
import type { ServiceHeaders } from '@glovebox/wire';

/** Takes the proxy key out of the query. */
export function takeProxyKey(
  headers: ServiceHeaders,
  query: string,
): { key: string | undefined; rest: string } {
  const names = headers.spellingsOf('proxy-key');
  const keys: string[] = [];
  const rest = query.split('&').filter((part) => {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    if (!names.includes(decoded(name).toLowerCase())) return true;
    keys.push(equals < 0 ? '' : decoded(part.slice(equals + 1)));
    return false;
  });
  if (keys.length > 1) {
    throw new Problem('invalid_request', { detail: 'The proxy key is given more than once.' });
  }
  return { key: keys[0], rest: rest.join('&') };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
