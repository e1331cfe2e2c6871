/** RFC 8586: the list of those that a request has come through. Forwarders pass it on as it is. */
export const hopHeader = 'CDN-Loop';

/** For a name that nobody else has: as much of the hash as two installations could share by chance. */
const markerCharacters = 16;

/**
 * How an installation names itself in that list: the same in all its processes, another one in each
 * installation, so that two of them in a row are no loop. `keyedHash` is the one that API keys are
 * stored by; none of them looks like what is hashed here.
 */
export function hopMarkerOf(keyedHash: (text: string) => string): string {
  return `glovebox-${keyedHash('hop marker').slice(0, markerCharacters)}`;
}

/** Whether a request with this list has been through here before. */
export function hasBeenHere(list: string | undefined, marker: string): boolean {
  if (list === undefined || !list.includes(marker)) return false;
  return list.split(',').some((hop) => hop.split(';', 1)[0]?.trim() === marker);
}
