/** RFC 9110 §5.6.2: a tchar is anything but these. */
export const noTokenChar = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/;

/** RFC 9110 §5.5: field-vchar, SP and HTAB are anything but these. */
export const noFieldChar = /[^\t\x20-\x7e\x80-\xff]/;

/** RFC 9112 §4: status-line = HTTP-version SP status-code SP [ reason-phrase ]; §2.3: 1.1 or 1.0 */
const statusLine = /HTTP\/1\.[01] [1-9]\d\d [\t\x20-\x7e\x80-\xff]*\r\n/;

/**
 * RFC 9112 §5, RFC 9110 §5.5: token ":" and text. No obs-fold (§5.2), no blank before the colon (§5.1),
 * no CR or LF alone (§2.2).
 */
const fieldLines = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*/;

/** Each line with its CRLF. Both take time in proportion to the text. */
export const headLines = new RegExp(`^${statusLine.source}${fieldLines.source}$`);
export const trailerLines = new RegExp(`^${fieldLines.source}$`);

const SP = 0x20;
const HTAB = 0x09;

/** RFC 9112 §5: OWS around a field value is not part of it. */
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
