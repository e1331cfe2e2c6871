import { Problem } from '@glovebox/problems';
import type { ApiRequest } from './request';

const json = ['application/json', 'text/json'];
const mediaTypes: Readonly<Record<string, readonly string[]>> = {
  POST: json,
  PUT: json,
  PATCH: ['application/merge-patch+json'],
};

/** Refuses a body whose media type or encoding the API does not read. */
export function checkMediaType({ method, headers }: ApiRequest): void {
  const wanted = mediaTypes[method];
  if (wanted === undefined) return;
  // An empty body cannot be misread. Required members are reported as missing later.
  const isEmpty = (headers['content-length'] ?? '0') === '0' && !headers['transfer-encoding'];
  if (method !== 'PATCH' && isEmpty) return;
  if (!isMediaType(headers['content-type'] ?? '', wanted)) {
    throw new Problem('unsupported_media_type', { detail: `The body must be ${wanted[0]}.` });
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new Problem('unsupported_media_type', { detail: 'The body must not be encoded.' });
  }
}

/** JSON is UTF-8; any other charset would be misread. Other parameters are ignored. */
function isMediaType(header: string, wanted: readonly string[]): boolean {
  const [type = '', ...parameters] = header.toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return wanted.includes(type.trim()) && isUtf8;
}
