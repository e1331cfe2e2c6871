import type { OutgoingHttpHeaders } from 'node:http';
import { Problem } from '@glovebox/problems';
import { headerKinds, type ServiceHeaders } from '@glovebox/wire';

export const destinationStatusHeader = 'SVC-PROXY-DESTINATION-STATUS';

const notForConnectionToName = /^(?:host|content-.*|cdn-loop)$/;
const notInTrailers = /^(?:host|content-.*|set-cookie)$/i;

/** The caller's headers that go to the destination, as name, value, name, value… Hot path. */
export function forwardedHeaders(raw: readonly string[], ours: ServiceHeaders): string[] {
  return passedOn(
    raw,
    ours,
    headerKinds.neverPassedOn | headerKinds.ours | headerKinds.host,
    refuseToName,
  );
}

/** The caller's headers that go to the management API, with Host and the service headers. */
export function managementHeaders(
  raw: readonly string[],
  ours: ServiceHeaders,
): OutgoingHttpHeaders {
  const kept = passedOn(raw, ours, headerKinds.neverPassedOn, refuseToName);
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

/** The destination's headers that go back to the caller. Hot path. */
export function answeredHeaders(
  raw: readonly string[],
  ours: ServiceHeaders,
  status = 200,
): string[] {
  // A 204 has no body. A length would make its reader take the next bytes for one.
  const framing = status === 204 ? headerKinds.contentLength : 0;
  return passedOn(raw, ours, headerKinds.hopByHop | headerKinds.ours | framing);
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

/** The headers of the management API that go back to the caller. */
export function managementAnswerHeaders(raw: readonly string[], ours: ServiceHeaders): string[] {
  return passedOn(raw, ours, headerKinds.hopByHop);
}

/** Drops the headers of these kinds and those that Connection names, with one look at each line. */
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
    const kind = ours.kinds.kindOf(name);
    if (kind & headerKinds.connection && !isKeepAlive(value))
      addNames(value, (named ??= new Set()));
    if (!(kind & dropped)) kept.push(name, value);
  }
  if (!named) return kept;
  for (const name of named) judgeNamed?.(name, ours);
  return withoutNames(kept, (lower) => named.has(lower));
}

/** Almost every Connection header says this, which removes nothing. */
const isKeepAlive = (value: string): boolean => value === 'keep-alive' || value === 'Keep-Alive';

/** Drops lines by their lower-cased name. The lines are name, value, name, value… */
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

/** A hop may not remove headers of framing, content and host, or our own. */
function refuseToName(name: string, ours: ServiceHeaders): void {
  if (!notForConnectionToName.test(name) && !ours.isOurs(name)) return;
  throw new Problem('invalid_request', {
    detail: 'The Connection header names a header that must stay.',
  });
}

function addNames(list: string, names: Set<string>): void {
  for (const part of list.split(',')) names.add(part.trim().toLowerCase());
}
