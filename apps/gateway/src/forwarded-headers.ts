import { Problem } from '@glovebox/problems';
import type { ServiceHeaders } from '@glovebox/service-host';

const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** Ours to say: the destination's name, the framing, and who asked before us. */
const neverForwarded = new Set([...hopByHop, 'host', 'expect', 'content-length', 'forwarded']);
const neverAnswered = new Set(hopByHop);
const notForConnectionToName = /^(?:host|content-.*)$/;
const notInTrailers = /^(?:host|content-.*|set-cookie)$/i;

/**
 * What of the caller's headers goes to the destination, as name, value, name, value…
 * Hot path: runs once per request, allocates one array.
 */
export function forwardedHeaders(raw: readonly string[], ours: ServiceHeaders): string[] {
  const named = namedByConnection(raw, ours);
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const lower = name.toLowerCase();
    if (neverForwarded.has(lower) || ours.isOurs(lower) || named?.has(lower)) continue;
    if (lower.startsWith('x-forwarded-')) continue;
    kept.push(name, raw[at + 1] ?? '');
  }
  return kept;
}

/**
 * What of the destination's headers goes back to the caller.
 * Hot path: what does not pass is not turned into text.
 */
export function answeredHeaders(
  raw: readonly (Buffer | string)[],
  ours: ServiceHeaders,
  status = 200,
): string[] {
  let named: Set<string> | undefined;
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = latin1(raw[at]);
    const lower = name.toLowerCase();
    if (lower === 'connection') listed(latin1(raw[at + 1]), (named ??= new Set()));
    if (lower === 'transfer-encoding') refuseUndecodable(latin1(raw[at + 1]));
    if (neverAnswered.has(lower) || ours.isOurs(lower)) continue;
    // What comes first afterwards would be taken for the body that a 204 cannot have.
    if (status === 204 && lower === 'content-length') continue;
    kept.push(name, latin1(raw[at + 1]));
  }
  return named ? without(kept, named) : kept;
}

/** The trailers of an answer, without those that would say something about its head. */
export function answeredTrailers(
  raw: readonly (Buffer | string)[],
  ours: ServiceHeaders,
): [string, string][] {
  const kept = answeredHeaders(raw, ours);
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < kept.length; at += 2) {
    const name = kept[at] ?? '';
    if (!notInTrailers.test(name)) pairs.push([name, kept[at + 1] ?? '']);
  }
  return pairs;
}

function latin1(part: Buffer | string | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '');
}

/** Chunks are taken off by undici; anything else would reach the caller as if it were the content. */
function refuseUndecodable(transferEncoding: string): void {
  if (transferEncoding.trim().toLowerCase() !== 'chunked') {
    throw new Problem('destination_unreachable');
  }
}

function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  return headers.filter((_, at) => !names.has(headers[at - (at % 2)]?.toLowerCase() ?? ''));
}

function namedByConnection(
  raw: readonly string[],
  ours: ServiceHeaders,
): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    named ??= new Set();
    listed(raw[at + 1] ?? '', named);
  }
  for (const name of named ?? []) {
    if (notForConnectionToName.test(name) || ours.isOurs(name)) {
      throw new Problem('invalid_request', {
        detail: 'Connection names a header it may not name.',
      });
    }
  }
  return named;
}

function listed(value: string, into: Set<string>): void {
  for (const part of value.split(',')) into.add(part.trim().toLowerCase());
}
