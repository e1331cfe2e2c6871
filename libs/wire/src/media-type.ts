import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '@glovebox/problems';

export const jsonTypes: readonly string[] = ['application/json', 'text/json'];

/** Refuses a body whose media type or encoding is not read. */
export function requireMediaType(headers: IncomingHttpHeaders, wanted: readonly string[]): void {
  if (!isMediaType(headers['content-type'] ?? '', wanted)) {
    throw new Problem('unsupported_media_type', { detail: `The body must be ${wanted[0]}.` });
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new Problem('unsupported_media_type', { detail: 'The body must not be encoded.' });
  }
}

/** JSON is UTF-8; any other charset would be misread. Other parameters are ignored. */
function isMediaType(header: string, wanted: readonly string[]): boolean {
  if (wanted.includes(header)) return true;
  const [type = '', ...parameters] = header.toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return wanted.includes(type.trim()) && isUtf8;
}
