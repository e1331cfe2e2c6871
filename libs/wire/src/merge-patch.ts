/** Applies a JSON Merge Patch (RFC 7386): null removes a member. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMembers(patch)) return patch;
  const merged = new Map(isMembers(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
