/** Taken before code can replace it. */
const activeResources = process.getActiveResourcesInfo.bind(process);
const writes: readonly string[] = ['WriteWrap', 'SimpleWriteWrap'];

/** Node does not list timers without a reference. They may still set something going. */
let isUnseenPossible = false;
for (const made of [setTimeout(() => undefined, 0), setImmediate(() => undefined)]) {
  const prototype = Object.getPrototypeOf(made) as { unref(): unknown };
  const { unref } = prototype;
  prototype.unref = function (): unknown {
    isUnseenPossible = true;
    return unref.call(this);
  };
}

/**
 * What is left of earlier runs. `leftovers`: timers, servers, pipes and the like go on. `quiet`:
 * nothing can happen before the next frame.
 */
export function restOfProcess(): { leftovers: boolean; quiet: boolean } {
  // The one handle is the channel. A frame that is being written ends by itself.
  const leftovers = activeResources().filter((resource) => !writes.includes(resource)).length > 1;
  return { leftovers, quiet: !leftovers && !isUnseenPossible };
}
