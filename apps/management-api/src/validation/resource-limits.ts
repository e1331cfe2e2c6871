/** Characters of the name of a resource. */
export const nameMax = 200;
/** Characters of a slug. */
export const slugMax = 64;
/** Characters of a description. */
export const descriptionMax = 1_000;
/** Members of metadata, of settings, of a configuration. */
export const mapMembersMax = 100;
/** Characters of the name of such a member. */
export const mapNameMax = 100;
/** Characters of a value of metadata or settings. */
export const mapValueMax = 1_000;
/** Origins of pages, of an application or a proxy. */
export const allowedOriginsMax = 20;
/** Characters of such an origin. */
export const originMax = 200;
/** Patterns of hosts, and beginnings of paths, that a proxy matches in forward mode. */
export const matchedHostsMax = 20;
export const matchedPathsMax = 20;
/** Characters of such a pattern or path. */
export const matchedPatternMax = 400;
/** Combinations of hosts, methods and paths of a proxy. */
export const matchKeysMax = 400;
/** Characters of a container. */
export const containerMax = 200;
export const containerPath = /^\/(?:[A-Za-z0-9_-]+\/)*$/;
/** Entries of permissions, of containers, of search indexes. */
export const listEntriesMax = 100;
