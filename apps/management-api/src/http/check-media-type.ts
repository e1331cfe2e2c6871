import { jsonTypes, requireMediaType } from '@glovebox/wire';
import type { ApiRequest } from './request';

const mediaTypes: Readonly<Record<string, readonly string[]>> = {
  POST: jsonTypes,
  PUT: jsonTypes,
  PATCH: ['application/merge-patch+json'],
};

/** Refuses a body whose media type or encoding the API does not read. */
export function checkMediaType({ method, headers }: ApiRequest): void {
  const wanted = mediaTypes[method];
  if (wanted === undefined) return;
  // An empty body cannot be misread. Required members are reported as missing later.
  const isEmpty = (headers['content-length'] ?? '0') === '0' && !headers['transfer-encoding'];
  if (method !== 'PATCH' && isEmpty) return;
  requireMediaType(headers, wanted);
}
