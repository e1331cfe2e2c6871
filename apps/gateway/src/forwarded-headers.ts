import type { OutgoingHttpHeaders } from 'node:http';
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
const neverAnswered = new Set(hopByHop);
/** Ours to say, whoever is next: the framing, and who asked before us. */
const neverPassedOn = new Set([...hopByHop, 'expect', 'content-length', 'forwarded']);
const notForConnectionToName = /^(?:host|content-.*)$/;

/**
 * What of the caller's headers goes to the destination, as name, value, name, value…
 * Hot path: runs once per request, allocates one array.
 */
export function forwardedHeaders(raw: readonly string[], ours: ServiceHeaders): string[] {
  const named = namedByCaller(raw, ours);
  return without(
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
  const kept = without(raw, (lower) => isNeverPassedOn(lower, named));
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

/** What of the destination's headers goes back to the caller. */
export function answeredHeaders(raw: readonly (Buffer | string)[], ours: ServiceHeaders): string[] {
  const text = raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
  return withoutHops(text, (lower) => ours.isOurs(lower));
}

/** What of the management API's. */
export function managementAnswerHeaders(raw: readonly string[]): string[] {
  return withoutHops(raw, () => false);
}

function withoutHops(raw: readonly string[], isDropped: (lower: string) => boolean): string[] {
  const named = namedByConnection(raw);
  return without(
    raw,
    (lower) => neverAnswered.has(lower) || named?.has(lower) === true || isDropped(lower),
  );
}

function without(raw: readonly string[], isDropped: (lower: string) => boolean): string[] {
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
    named ??= new Set();
    for (const part of (raw[at + 1] ?? '').split(',')) named.add(part.trim().toLowerCase());
  }
  return named;
}
