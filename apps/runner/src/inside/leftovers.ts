/** Taken before code can replace it. */
const activeResources = process.getActiveResourcesInfo.bind(process);

/** Tells whether a run has left timers, servers, pipes and the like behind. */
export function hasLeftovers(): boolean {
  // The one handle is the channel. A frame that is being written ends by itself.
  return activeResources().filter((resource) => resource !== 'WriteWrap').length > 1;
}
