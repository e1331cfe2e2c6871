import { invalid } from '@glovebox/problems';
import { isJsonObject, mergePatch, type JsonObject } from '@glovebox/wire';
import { toDto } from './body.pipe';
import { membersOf, type Dto } from './dto-members';

/** The body of a PATCH (RFC 7386). It is applied to the document that a PUT takes. */
export type MergePatch = unknown;

/**
 * Validates the patched document as a PUT of it. A PATCH can do exactly what a PUT can, null on a
 * required member is refused like its absence, and each rule is written once. Returns undefined for
 * `{}`, which changes nothing: it is accepted even if the rules have changed since the last write.
 */
export function patchedDto<Type extends Dto>(
  Type: Type,
  document: JsonObject,
  patch: MergePatch,
): InstanceType<Type> | undefined {
  if (!isJsonObject(patch)) throw invalid({ body: ['must be a JSON object'] });
  if (Object.keys(patch).length === 0) return undefined;
  return toDto(Type, mergePatch(document, changesOf(Type, patch)));
}

/** Leaves out members that are `{}`: RFC 7386 would make an object of what is not there. */
function changesOf(Type: Dto, patch: JsonObject): JsonObject {
  const changes = { ...patch };
  for (const { name, type, rules } of membersOf(Type)) {
    const value = Object.hasOwn(changes, name) ? changes[name] : undefined;
    const isOfObjects = type !== undefined && !rules.has('isArray');
    if (isOfObjects && isJsonObject(value) && Object.keys(value).length === 0) delete changes[name];
  }
  return changes;
}

export function touches(patch: MergePatch, member: string): boolean {
  return isJsonObject(patch) && Object.hasOwn(patch, member);
}
