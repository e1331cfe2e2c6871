import type { OutgoingHttpHeaders } from 'node:http';
import { Problem } from '@glovebox/problems';
import { kinds, type ServiceHeaders } from '@glovebox/wire';

export const destinationStatusHeader = 'SVC-PROXY-DESTINATION-STATUS';

const notForConnectionToName = /^(?:host|content-.*|cdn-loop)$/;
const notInTrailers = /^(?:host|content-.*|set-cookie)$/i;

/** What of the caller's headers goes to the destination, as name, value, name, value… Hot path. */
export function forwardedHeaders(raw: readonly string[], ours: ServiceHeaders): string[] {
  return passedOn(raw, ours, kinds.neverPassedOn | kinds.ours | kinds.host, refuseToName);
}

/** What of them goes to the management API: the name that was asked for and what speaks to us, too. */
export function managementHeaders(
  raw: readonly string[],
  ours: ServiceHeaders,
): OutgoingHttpHeaders {
  const kept = passedOn(raw, ours, kinds.neverPassedOn, refuseToName);
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

/** What of the destination's headers goes back to the caller. Hot path. */
export function answeredHeaders(
  raw: readonly string[],
  ours: ServiceHeaders,
  status = 200,
): string[] {
  // What comes first afterwards would be taken for the body that a 204 cannot have.
  const framing = status === 204 ? kinds.contentLength : 0;
  return passedOn(raw, ours, kinds.hopByHop | kinds.ours | framing);
}

/** The trailers of an answer, without those that would say something about its head. */
export function answeredTrailers(raw: readonly string[], ours: ServiceHeaders): [string, string][] {
  const kept = answeredHeaders(raw, ours);
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < kept.length; at += 2) {
    const name = kept[at] ?? '';
    if (!notInTrailers.test(name)) pairs.push([name, kept[at + 1] ?? '']);
  }
  return pairs;
}

/** What of the management API's. */
export function managementAnswerHeaders(raw: readonly string[], ours: ServiceHeaders): string[] {
  return passedOn(raw, ours, kinds.hopByHop);
}

/** One look at each line: without those of the dropped kinds, and without those that Connection names. */
function passedOn(
  raw: readonly string[],
  ours: ServiceHeaders,
  dropped: number,
  judgeNamed?: (name: string, ours: ServiceHeaders) => void,
): string[] {
  const kept: string[] = [];
  let named: Set<string> | undefined;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const value = raw[at + 1] ?? '';
    const kind = ours.kinds.of(name);
    if (kind & kinds.connection && !isKeepAlive(value)) addNames(value, (named ??= new Set()));
    if (!(kind & dropped)) kept.push(name, value);
  }
  if (!named) return kept;
  for (const name of named) judgeNamed?.(name, ours);
  return withoutNames(kept, (lower) => named.has(lower));
}

/** Almost every Connection header says this, which takes nothing out. */
const isKeepAlive = (value: string): boolean => value === 'keep-alive' || value === 'Keep-Alive';

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

/** Framing, content, name and our own headers are not a hop's to take out. */
function refuseToName(name: string, ours: ServiceHeaders): void {
  if (!notForConnectionToName.test(name) && !ours.isOurs(name)) return;
  throw new Problem('invalid_request', { detail: 'Connection names a header it may not name.' });
}

function addNames(list: string, names: Set<string>): void {
  for (const part of list.split(',')) names.add(part.trim().toLowerCase());
}
