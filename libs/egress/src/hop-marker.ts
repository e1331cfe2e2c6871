/** RFC 8586: the list of forwarders that a request has passed. Forwarders pass it on unchanged. */
export const hopHeader = 'CDN-Loop';

/**
 * The length of a unique name: enough of the hash that two installations cannot share it by chance.
 */
const markerCharacters = 16;

/**
 * The name of an installation in that list: the same in all its processes and different in each
 * installation, so that two of them in a row are not a loop. `keyedHash` is the one that API keys
 * are stored by; no key looks like the text that is hashed here.
 */
export function hopMarkerOf(keyedHash: (text: string) => string): string {
  return `glovebox-${keyedHash('hop marker').slice(0, markerCharacters)}`;
}

/** True if a request with this list has passed this installation before. */
export function hasBeenHere(list: string | undefined, marker: string): boolean {
  if (list === undefined || !list.includes(marker)) return false;
  return list.split(',').some((hop) => hop.split(';', 1)[0]?.trim() === marker);
}
