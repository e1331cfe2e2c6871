import type { OutgoingHttpHeaders } from 'node:http';
import { Problem } from '@glovebox/problems';
import { hopByHopHeaders, type ServiceHeaders } from '@glovebox/service-host';

export const destinationStatusHeader = 'SVC-PROXY-DESTINATION-STATUS';

const neverAnswered = new Set(hopByHopHeaders);
/** Ours to say, whoever is next: the framing, and who asked before us. */
const neverPassedOn = new Set([...hopByHopHeaders, 'expect', 'content-length', 'forwarded']);
const notForConnectionToName = /^(?:host|content-.*|cdn-loop)$/;
const notInTrailers = /^(?:host|content-.*|set-cookie)$/i;

/**
 * What of the caller's headers goes to the destination, as name, value, name, value…
 * Hot path: runs once per request, allocates one array.
 */
export function forwardedHeaders(raw: readonly string[], ours: ServiceHeaders): string[] {
  const named = namedByCaller(raw, ours);
  return withoutNames(
    raw,
    (lower) => isNeverPassedOn(lower, named) || lower === 'host' || ours.isOurs(lower),
  );
}

/** What of them goes to the management API: the name that was asked for and what speaks to us, too. */
export function managementHeaders(
  raw: readonly string[],
  ours: ServiceHeaders,
): OutgoingHttpHeaders {
  const named = namedByCaller(raw, ours);
  const kept = withoutNames(raw, (lower) => isNeverPassedOn(lower, named));
  const headers = new Map<string, string[]>();
  for (let at = 0; at + 1 < kept.length; at += 2) {
    const name = kept[at]?.toLowerCase() ?? '';
    headers.set(name, [...(headers.get(name) ?? []), kept[at + 1] ?? '']);
  }
  return Object.fromEntries(
    [...headers].map(([name, [only = '', ...more]]) => [
      name,
      more.length > 0 ? [only, ...more] : only,
    ]),
  );
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
    if (lower === 'connection') addNames(latin1(raw[at + 1]), (named ??= new Set()));
    if (lower === 'transfer-encoding') refuseUndecodable(latin1(raw[at + 1]));
    if (neverAnswered.has(lower) || ours.isOurs(lower)) continue;
    // What comes first afterwards would be taken for the body that a 204 cannot have.
    if (status === 204 && lower === 'content-length') continue;
    kept.push(name, latin1(raw[at + 1]));
  }
  return named ? withoutNames(kept, (lower) => named.has(lower)) : kept;
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

/** What of the management API's. */
export function managementAnswerHeaders(raw: readonly string[]): string[] {
  const named = namedByConnection(raw);
  return withoutNames(raw, (lower) => neverAnswered.has(lower) || named?.has(lower) === true);
}

/** Of name, value, name, value…: the lines whose lower-cased names are not dropped. */
export function withoutNames(
  raw: readonly string[],
  isDropped: (lower: string) => boolean,
): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (!isDropped(name.toLowerCase())) kept.push(name, raw[at + 1] ?? '');
  }
  return kept;
}

function isNeverPassedOn(lower: string, named: ReadonlySet<string> | undefined): boolean {
  return neverPassedOn.has(lower) || lower.startsWith('x-forwarded-') || named?.has(lower) === true;
}

/** Framing, content, name and our own headers are not a hop's to take out. */
function namedByCaller(
  raw: readonly string[],
  ours: ServiceHeaders,
): ReadonlySet<string> | undefined {
  const named = namedByConnection(raw);
  for (const name of named ?? []) {
    if (notForConnectionToName.test(name) || ours.isOurs(name)) {
      throw new Problem('invalid_request', {
        detail: 'Connection names a header it may not name.',
      });
    }
  }
  return named;
}

function namedByConnection(raw: readonly string[]): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    addNames(raw[at + 1] ?? '', (named ??= new Set()));
  }
  return named;
}

function addNames(list: string, names: Set<string>): void {
  for (const part of list.split(',')) names.add(part.trim().toLowerCase());
}
