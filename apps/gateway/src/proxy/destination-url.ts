import { hostPatternsOf } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import type { Use } from '@glovebox/vault';

interface DestinationUrl {
  readonly origin: string;
  /** The value of the Host header. */
  readonly host: string;
  readonly path: string;
  /** Path and query as the destination gets them, byte for byte. */
  readonly target: string;
}

/**
 * The URL of a call: the stored URL, the path behind /proxy and the caller's query, byte for byte.
 * The caller's part may not climb out of the stored path.
 */
export function destinationOf(
  destinationUrl: string,
  suffix: string,
  query: string,
): DestinationUrl {
  const { origin, host, path, ownQuery } = partsOf(destinationUrl);
  refuseClimbing(suffix);
  const fullPath = suffix === '' ? path : path.replace(/\/+$/, '') + suffix;
  const joint = ownQuery !== '' && query !== '' ? '&' : '';
  const search = ownQuery + joint + query;
  const sentPath = fullPath === '' ? '/' : fullPath;
  return {
    origin,
    host,
    path: sentPath,
    target: search === '' ? sentPath : `${sentPath}?${search}`,
  };
}

export function destinationHostOf(destinationUrl: string): string {
  return partsOf(destinationUrl).host;
}

/** What a use of tokens says of where their values go. */
export function goingTo(destinationUrl: string): Pick<Use, 'destinationHost' | 'goesTo'> {
  const { host, goesTo } = partsOf(destinationUrl);
  return { destinationHost: host, goesTo };
}

interface Parts {
  readonly origin: string;
  readonly host: string;
  readonly path: string;
  readonly ownQuery: string;
  readonly goesTo: readonly string[];
}

const known = new Map<string, Parts>();
const knownMax = 10_000;

/** Stored URLs were checked when they were written. Parsing one for each call costs 2 µs. */
function partsOf(destinationUrl: string): Parts {
  const before = known.get(destinationUrl);
  if (before) return before;
  const { origin, host } = new URL(destinationUrl);
  const [, rest = ''] = /^[a-z]+:\/\/[^/?#]*([^#]*)/i.exec(destinationUrl) ?? [];
  const queryAt = rest.indexOf('?');
  const parts = {
    origin,
    host,
    path: queryAt < 0 ? rest : rest.slice(0, queryAt),
    ownQuery: queryAt < 0 ? '' : rest.slice(queryAt + 1),
    goesTo: hostPatternsOf(origin),
  };
  if (known.size >= knownMax) known.clear();
  known.set(destinationUrl, parts);
  return parts;
}

/** ASCII in more bytes than it needs: not UTF-8 to us, a dot or a slash to a careless decoder. */
const overlong = /%c[01]%[89ab]|%e0%[89]|%f0%8/i;

function refuseClimbing(suffix: string): void {
  if (!/[.\\%]/.test(suffix)) return;
  // Sequences that are not UTF-8 are left alone: the dots and slashes that matter are ASCII.
  const decoded = suffix.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent);
  // Some servers cut off everything behind a semicolon before they climb.
  const climbs = decoded.split('/').some((segment) => /^\.\.?(?:;|$)/.test(segment));
  if (climbs || decoded.includes('\\') || overlong.test(suffix)) {
    throw new Problem('invalid_request', {
      detail: 'The path may not climb out of the path of the proxy.',
    });
  }
}
