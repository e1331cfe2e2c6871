import type { JsonObject } from './frames';
import { isWhole } from './members';

/** The versions of the protocol between runners and their clients that a process speaks. */
export interface SpokenVersions {
  readonly lowest: number;
  readonly highest: number;
}

/**
 * A release that changes a frame, or adds to one what a runner must not skip, raises `highest` and
 * goes on speaking the version before it (docs/adr/0083). 0.1.0 speaks version 2 alone.
 */
export const spokenVersions: SpokenVersions = { lowest: 2, highest: 3 };

/** A runner of an earlier version would skip `network: false`, and let the code connect. */
export const versionWithNetworkOff = 3;

/** A runner of an earlier version would skip where the code may connect to. */
export const versionWithReach = 3;

/** The members of HELLO that say which versions a process speaks. 0.1.0 reads `version` alone. */
export const helloOf = ({ lowest, highest }: SpokenVersions): JsonObject => ({
  version: lowest,
  lowest,
  highest,
});

/** Reads HELLO. Undefined: it names no version. */
export function spokenBy(head: JsonObject): SpokenVersions | undefined {
  const { version, lowest = version, highest = version } = head;
  const isRange =
    isWhole(lowest, 1, Number.MAX_SAFE_INTEGER) &&
    isWhole(highest, lowest, Number.MAX_SAFE_INTEGER);
  return isRange ? { lowest, highest } : undefined;
}

/** The newest version that both speak. Undefined: there is none. */
export function agreedVersion(one: SpokenVersions, other: SpokenVersions): number | undefined {
  const highest = Math.min(one.highest, other.highest);
  return highest >= Math.max(one.lowest, other.lowest) ? highest : undefined;
}

/** For logs. */
export const inWords = ({ lowest, highest }: SpokenVersions): string =>
  lowest === highest ? `${lowest}` : `${lowest} to ${highest}`;
