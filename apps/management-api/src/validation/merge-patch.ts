import { invalid } from '@glovebox/problems';
import { isMembers, type Dto, type Members } from './fields';
import { toDto } from './body.pipe';

/** The body of a PATCH: RFC 7386, applied to what PUT would take. */
export type MergePatch = unknown;

/**
 * What a PUT of the patched document would be: so a PATCH can do exactly what a PUT can, null on a
 * required member is refused like its absence, and each rule is written once. Undefined for `{}`,
 * which changes nothing and is always fine, whatever has become of the rules since the last write.
 */
export async function patched<Type extends Dto>(
  Type: Type,
  document: Members,
  patch: MergePatch,
): Promise<InstanceType<Type> | undefined> {
  if (!isMembers(patch)) throw invalid({ '': ['must be a JSON object'] });
  if (Object.keys(patch).length === 0) return undefined;
  return toDto(Type, mergePatch(document, patch));
}

export function touches(patch: MergePatch, member: string): boolean {
  return isMembers(patch) && Object.hasOwn(patch, member);
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMembers(patch)) return patch;
  const merged = new Map(isMembers(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
