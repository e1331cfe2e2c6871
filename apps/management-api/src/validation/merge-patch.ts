import { invalid } from '@glovebox/problems';
import { mergePatch } from '@glovebox/wire';
import { toDto } from './body.pipe';
import type { Dto } from './dto-members';
import { isMembers, type Members } from './values';

/** The body of a PATCH (RFC 7386). It is applied to the document that a PUT takes. */
export type MergePatch = unknown;

/**
 * Validates the patched document as a PUT of it. A PATCH can do exactly what a PUT can, null on a
 * required member is refused like its absence, and each rule is written once. Returns undefined for
 * `{}`, which changes nothing: it is accepted even if the rules have changed since the last write.
 */
export function patched<Type extends Dto>(
  Type: Type,
  document: Members,
  patch: MergePatch,
): InstanceType<Type> | undefined {
  if (!isMembers(patch)) throw invalid({ '': ['must be a JSON object'] });
  if (Object.keys(patch).length === 0) return undefined;
  return toDto(Type, mergePatch(document, patch));
}

export function touches(patch: MergePatch, member: string): boolean {
  return isMembers(patch) && Object.hasOwn(patch, member);
}
