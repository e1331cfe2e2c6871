/** Patterns of one list. */
export const destinationsMax = 20;
/** Characters of one pattern, as it is written and in its one spelling. */
export const destinationCharactersMax = 500;
/** Names above a host that patterns may name: a name may have 127 labels. */
const namesAboveMax = 20;
/** How often a segment of a path may be encoded beyond once. */
const decodingsMax = 4;

/**
 * Where something may go: `host`, `*.host`, `host:port`, `host/path/prefix`. `http://` before it
 * means plain http. Without it, only https is meant.
 */
export interface DestinationPattern {
  /** The one spelling of scheme, host and port, as `hostPatternsOf` lists them. */
  readonly hosts: string;
  /** Of the path, decoded. None: every path. */
  readonly segments: readonly string[];
  /** The one spelling of the whole pattern. */
  readonly text: string;
}

/** Where a request goes. */
export interface Place {
  /** As WHATWG URL has it: `https://api.example.com`, `http://[::1]:8080`. */
  readonly origin: string;
  /** As it is sent, without its query. */
  readonly path: string;
}

const patternForm =
  /^(?:(https?):\/\/)?(\*\.)?(\[[\da-f:.]+\]|[^\s/?#\\@:%[\]*]+)(?::(\d{1,5}))?((?:\/[^/?#\\\s]*)*)$/i;

export const mustBeDestinations =
  `must be a list of 1 to ${destinationsMax} patterns of at most ${destinationCharactersMax} ` +
  'characters, such as api.example.com, *.example.com, api.example.com:8443 or api.example.com/v1';

/** A list in its one spelling, without repetitions. Undefined: it is none. */
export function normalDestinations(list: unknown): readonly string[] | undefined {
  if (!Array.isArray(list) || list.length === 0 || list.length > destinationsMax) return undefined;
  const patterns = list.map((text: unknown) =>
    typeof text === 'string' ? parseDestination(text)?.text : undefined,
  );
  return patterns.every((text) => text !== undefined) ? [...new Set(patterns)] : undefined;
}

/** Undefined: it is none. */
export function parseDestination(text: string): DestinationPattern | undefined {
  if (text.length > destinationCharactersMax) return undefined;
  const [, scheme = 'https', below = '', host = '', port, path = ''] = patternForm.exec(text) ?? [];
  const named = hostOf(host);
  if (named === undefined || (below !== '' && isAddress(named))) return undefined;
  const segments = segmentsOf(path);
  const isPort = port === undefined || (Number(port) > 0 && Number(port) <= 65_535);
  if (!segments || !isPort) return undefined;
  const protocol = scheme.toLowerCase();
  const hosts = spelled(protocol, below + named, port === undefined ? '' : String(Number(port)));
  const written = segments.map((segment) => `/${encodeURI(segment)}`).join('');
  const normal = hosts + written.replace(/[?#]/g, encodeURIComponent);
  // A longer one could be stored, and not be read again.
  return normal.length > destinationCharactersMax ? undefined : { hosts, segments, text: normal };
}

/** The host of a URL in one spelling: lower case, punycode, no dot at its end. */
function hostOf(host: string): string | undefined {
  try {
    const { hostname } = new URL(`http://${host.replace(/[.\u3002\uff0e\uff61]+$/, '')}/`);
    return hostname.startsWith('[') || nameForm.test(hostname) ? hostname : undefined;
  } catch {
    return undefined;
  }
}

const nameForm = /^(?!.{254})[a-z\d_-]{1,63}(\.[a-z\d_-]{1,63})*$/;

const isAddress = (host: string): boolean =>
  host.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(host);

const ownPorts: Readonly<Record<string, string>> = { https: '443', http: '80' };

function spelled(scheme: string, host: string, port: string): string {
  const before = scheme === 'https' ? '' : `${scheme}://`;
  return before + host + (port === '' || port === ownPorts[scheme] ? '' : `:${port}`);
}

/**
 * The segments of a path that is read in one way. Undefined: two servers could read it differently,
 * so that nobody can say what it is below.
 */
export function segmentsOf(path: string): string[] | undefined {
  const segments = path.split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  const decoded = segments.map(decodedOnce);
  return decoded.every((segment) => segment !== undefined && isPlain(segment))
    ? (decoded as string[])
    : undefined;
}

function decodedOnce(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * No climbing, no slash and no sign that some server takes for one, however often it is decoded.
 * Nobody encodes a segment more often than `decodingsMax` for any good.
 */
function isPlain(segment: string, decodingsLeft = decodingsMax): boolean {
  if (segment === '' || /^\.\.?(?:;|$)/.test(segment) || /[/\\\p{Cc}\p{Cs}]/u.test(segment))
    return false;
  const again = segment.replace(/%[0-7][\da-f]/gi, decodeURIComponent);
  return again === segment || (decodingsLeft > 0 && isPlain(again, decodingsLeft - 1));
}

/**
 * The spellings of all patterns without a path that cover an origin: its own, and `*.` before each
 * of the names above it. Nothing covers what is not http or https.
 */
export function hostPatternsOf(origin: string): string[] {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const scheme = url?.protocol.slice(0, -1) ?? '';
  const host = url && hostOf(url.hostname);
  if (!url || host === undefined || !(scheme in ownPorts)) return [];
  const labels = isAddress(host) ? [] : host.split('.');
  const above = labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join('.')}`);
  return [host, ...above.slice(-namesAboveMax)].map((name) => spelled(scheme, name, url.port));
}

/** The spellings of all patterns without a path that cover what this one of them covers. */
function above(hosts: string): string[] {
  const [, scheme = '', name = '', port = ''] = /^(http:\/\/)?(.*?)(:\d+)?$/.exec(hosts) ?? [];
  const at = name.startsWith('*.') ? name.slice(2) : name;
  const covering = hostPatternsOf(`${scheme === '' ? 'https://' : scheme}${at}${port}`).slice(1);
  return [hosts, ...covering];
}

/** True if everything that the pattern covers is covered by one of the others. */
export const isWithin = (
  pattern: DestinationPattern,
  others: readonly DestinationPattern[],
): boolean =>
  others.some(
    ({ hosts, segments }) =>
      above(pattern.hosts).includes(hosts) && begins(segments, pattern.segments),
  );

const begins = (segments: readonly string[], others: readonly string[]): boolean =>
  segments.every((segment, at) => segment === others[at]);

/** What both lists cover. Hosts and paths lie within each other or apart, so that patterns say it. */
export function overlapOf(
  list: readonly DestinationPattern[],
  others: readonly DestinationPattern[],
): DestinationPattern[] {
  const found = new Map<string, DestinationPattern>();
  const aboveOthers = others.map(({ hosts }) => above(hosts));
  for (const one of list) {
    const aboveOne = above(one.hosts);
    for (const [at, other] of others.entries()) {
      const hosts = aboveOne.includes(other.hosts)
        ? one.hosts
        : aboveOthers[at]?.includes(one.hosts) && other.hosts;
      const both = hosts ? overlapOn(hosts, one, other) : undefined;
      if (both) found.set(both.text, both);
    }
  }
  return [...found.values()];
}

function overlapOn(
  hosts: string,
  one: DestinationPattern,
  other: DestinationPattern,
): DestinationPattern | undefined {
  const long = one.segments.length > other.segments.length ? one : other;
  const short = long === one ? other : one;
  if (!begins(short.segments, long.segments)) return undefined;
  return { hosts, segments: long.segments, text: hosts + long.text.slice(long.hosts.length) };
}

/** True if the pattern allows the place. */
export function covers(pattern: DestinationPattern, { origin, path }: Place): boolean {
  if (!hostPatternsOf(origin).includes(pattern.hosts)) return false;
  if (pattern.segments.length === 0) return true;
  const segments = path.startsWith('/') ? segmentsOf(path) : undefined;
  return segments !== undefined && begins(pattern.segments, segments);
}
