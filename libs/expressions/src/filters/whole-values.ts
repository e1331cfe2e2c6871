import type { Argument } from './filter';

/** A filter as it stands in an expression. */
export interface AppliedFilter {
  readonly name: string;
  readonly args: readonly Argument[];
}

/** Their result is a whole member, all of the text, or something that nobody makes without it. */
const wholeFilters = new Set(['json', 'to_string', 'upcase', 'downcase', 'hmac']);
const encodings = new Set(['to_base64', 'to_base16']);
const additions = new Set(['append', 'prepend']);
const addedBytesMax = 64;

/**
 * Says why a part of a value could come back although whole results are looked for. Undefined: none
 * could. Long results are looked for in parts, and each must hold enough of the value: so a value is
 * encoded once, with little text around it (docs/adr/0154).
 */
export function whyInParts(filters: readonly AppliedFilter[]): string | undefined {
  const encoding = filters.filter(({ name }) => encodings.has(name));
  const added = filters.filter(({ name }) => additions.has(name));
  const other = filters.find(
    ({ name }) => !wholeFilters.has(name) && !encodings.has(name) && !additions.has(name),
  );
  if (other) return `\`${other.name}\` is not for callers: its result could come back unseen`;
  if (encoding.length > 1) return 'callers encode a value once';
  const addedBytes = added.reduce((sum, { args }) => sum + Buffer.byteLength(args.join('')), 0);
  if (addedBytes <= addedBytesMax) return undefined;
  return `callers add at most ${addedBytesMax} bytes to a value`;
}
