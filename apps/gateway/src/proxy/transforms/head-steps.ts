import type { TransformStep } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import { isReservedHeader, type ServiceHeaders } from '@glovebox/wire';
import { withoutNames } from '../../connection/forwarded-headers';

/** Applies the steps to the headers of an answer whose body is not taken apart. */
export function headersAfter(
  steps: readonly TransformStep[],
  headers: string[],
  ours: ServiceHeaders,
): string[] {
  let changed = headers;
  for (const { type, options } of steps) {
    if (type === 'append' && options.location === 'header') {
      changed = withHeader(changed, options.name, options.value, ours);
    } else if (type === 'remove' && options.location === 'header') {
      changed = withoutHeader(changed, options.name, ours);
    }
  }
  return changed;
}

/** Adds a line to headers as name, value, name, value… */
export function withHeader(
  headers: string[],
  name: string,
  value: string,
  ours: ServiceHeaders,
): string[] {
  if (!mayChange(name, ours)) return headers;
  if (!/^[\x20-\x7e\xa0-\xff]*$/.test(value)) {
    throw new Problem('invalid_request', {
      detail: 'A step appends a header that cannot be sent.',
    });
  }
  const before = single.has(name.toLowerCase()) ? withoutHeader(headers, name, ours) : headers;
  return [...before, name, value];
}

/** Adds a line in the place of all that have its name. */
export const withNewHeader: typeof withHeader = (headers, name, value, ours) =>
  withHeader(withoutHeader(headers, name, ours), name, value, ours);

/** Headers that readers would understand differently if they came twice. */
const single = new Set(['authorization', 'content-type', 'location']);

/** Removes every line of that name, however it is spelled. */
export function withoutHeader(headers: string[], name: string, ours: ServiceHeaders): string[] {
  if (!mayChange(name, ours)) return headers;
  const removed = name.toLowerCase();
  return withoutNames(headers, (lower) => lower === removed);
}

/** Service header prefixes may have been added since the step was written. */
function mayChange(name: string, ours: ServiceHeaders): boolean {
  const lower = name.toLowerCase();
  return !isReservedHeader(lower) && !ours.isOurs(lower);
}

/** Adds a field to a query without its question mark. */
export function withField(query: string, name: string, value: string): string {
  const field = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  return query === '' ? field : `${query}&${field}`;
}

/**
 * Removes every field of that name, as a destination may decode it. The rest stays byte for byte.
 */
export function withoutField(query: string, name: string): string {
  const isNamed = (field: string): boolean => {
    const equals = field.indexOf('=');
    const spelled = equals < 0 ? field : field.slice(0, equals);
    return decoded(spelled) === name || decoded(spelled.replaceAll('+', ' ')) === name;
  };
  const fields = query.split('&');
  const kept = fields.filter((field) => !isNamed(field));
  return kept.length === fields.length ? query : kept.join('&');
}

/** Escapes that are not UTF-8 stay as they are, one by one. Others beside them are decoded. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
