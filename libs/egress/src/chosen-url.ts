import { EgressRefused } from './refusal';

/** Characters of a URL that a caller chooses. */
export const chosenUrlMax = 2_000;

export interface ChosenUrlRules {
  /**
   * It is forwarded byte for byte, or came in a header, which Node reads as Latin-1. Characters
   * beyond ASCII would fail every call, or would not be those that the caller meant.
   */
  readonly isAscii?: boolean;
}

/**
 * Says why a caller may not choose this URL for us to call, in words that follow the name of its
 * member. Returns undefined if it may. A bug in the check is thrown: it is no fault of the caller.
 */
export function faultOfChosenUrl(
  check: (url: string) => URL,
  url: unknown,
  { isAscii = false }: ChosenUrlRules,
): string | undefined {
  if (typeof url !== 'string') return 'must be a string';
  if (url.length > chosenUrlMax) return `must be at most ${chosenUrlMax} characters`;
  if (isAscii && !/^[\x21-\x7e]*$/.test(url)) {
    return 'must be ASCII, with everything else percent-encoded';
  }
  try {
    check(url);
    return undefined;
  } catch (error) {
    if (error instanceof EgressRefused) return error.fault;
    throw error;
  }
}
