import { invalid } from './answer-fault';

/** RFC 9110 §5.6.2: token */
export const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** RFC 9110 §5.5: field-vchar, SP and HTAB, nothing else */
export const fieldText = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Finds what no head and no trailer section may have: controls; CR or LF alone (RFC 9112 §2.2); a line,
 * but for the first, that is not `token ":" …`: obs-fold and blanks before the colon are not (§5.1, §5.2).
 */
const fault = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|[^\r]\n|\n(?![!#$%&'*+\-.^_`|~0-9A-Za-z]+:|$)/;

/** `lines` each end with CRLF; the first is not a field line. */
export function checkLines(lines: string): void {
  if (fault.test(lines)) throw invalid('a line of the head or the trailers is no field line');
}

const SP = 0x20;
const HTAB = 0x09;

/** RFC 9112 §5: OWS around a field value is no part of it. */
export function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SP || code === HTAB;
}
