import { writeValue, type InvalidResultReason } from '@glovebox/sandbox';

type ResultText =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'invalid'; readonly reason: InvalidResultReason };

/** A result is nothing, or a JSON object within the limit. */
export function describeResult(value: unknown, bytesMax: number): ResultText {
  if (value === undefined) return { kind: 'nothing' };
  if (typeof value !== 'object' || value === null) return invalid('not_an_object');
  let text: string;
  try {
    text = writeValue(value);
  } catch (error) {
    const { cause } = error as Error;
    const circular = cause instanceof TypeError && cause.message.includes('circular');
    return invalid(circular ? 'circular' : 'not_serialisable');
  }
  // Arrays, and the string that toJSON() makes of a Date, are JSON but no objects.
  if (!text.startsWith('{')) return invalid('not_an_object');
  if (Buffer.byteLength(text) > bytesMax) return invalid('too_large');
  return { kind: 'text', text };
}

const invalid = (reason: InvalidResultReason): ResultText => ({ kind: 'invalid', reason });
