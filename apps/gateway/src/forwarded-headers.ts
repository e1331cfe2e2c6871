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

/** What of the destination's headers goes back to the caller. */
export function answeredHeaders(raw: readonly (Buffer | string)[], ours: ServiceHeaders): string[] {
  const text = raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
  const named = new Set<string>();
  for (let at = 0; at + 1 < text.length; at += 2) {
    if (text[at]?.toLowerCase() === 'connection') listed(text[at + 1] ?? '', named);
  }
  const kept: string[] = [];
  for (let at = 0; at + 1 < text.length; at += 2) {
    const lower = text[at]?.toLowerCase() ?? '';
    if (neverAnswered.has(lower) || named.has(lower) || ours.isOurs(lower)) continue;
    kept.push(text[at] ?? '', text[at + 1] ?? '');
  }
  return kept;
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
