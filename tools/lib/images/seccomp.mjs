/**
 * @typedef {{ index: number, value: number, valueTwo?: number, op: string }} Argument
 * @typedef {{
 *   names: string[],
 *   action: string,
 *   errnoRet?: number,
 *   args?: Argument[] | null,
 *   includes?: { caps?: string[], arches?: string[] },
 *   excludes?: { caps?: string[], arches?: string[] },
 * }} Rule
 * @typedef {{ defaultAction: string, defaultErrnoRet?: number, syscalls: Rule[] }} EngineDefault
 */

/** @type {Readonly<Record<string, string>>} */
const added = {
  clone: 'bubblewrap makes the process of the sandbox in namespaces of its own',
  unshare: 'bubblewrap leaves its first user namespace for one in which nothing can be mounted',
  mount: 'bubblewrap shows the sandbox the files that it needs, read-only, and no others',
  umount2: 'bubblewrap takes the file system of the container away from the sandbox',
  pivot_root: 'bubblewrap puts the root of the sandbox in place of that of the container',
  sethostname: 'bubblewrap hides the name of the container, which is that of a pod',
};

/**
 * Some engines allow these, because the kernel refuses them to a process without capabilities.
 * In a user namespace it would not. Bubblewrap needs none of them.
 */
const withheld = new Set([
  ...['fsconfig', 'fsmount', 'fsopen', 'fspick', 'mount_setattr', 'move_mount', 'open_tree'],
  ...['setns', 'umount', 'add_key', 'keyctl', 'request_key'],
]);

const arches = ['amd64', 'x86', 'x32', 'arm64', 'arm'];
const architectures = ['X86_64', 'X86', 'X32', 'AARCH64', 'ARM'].map((name) => `SCMP_ARCH_${name}`);

/**
 * Makes the profile of level 3 from an engine's default: the default as it applies to a container
 * without capabilities, and the calls that bubblewrap needs. It has no conditions: containerd and
 * the kubelet read past those of Docker's form, and would apply each rule.
 *
 * @param {EngineDefault} engineDefault
 */
export function levelThreeProfile(engineDefault) {
  const { defaultAction, defaultErrnoRet, syscalls } = engineDefault;
  if (defaultAction !== 'SCMP_ACT_ERRNO') throw new Error(`${defaultAction} is not a refusal`);
  const rules = syscalls.filter(applies).flatMap(({ names, action, errnoRet, args }) => {
    const kept = names.filter((name) => !Object.hasOwn(added, name) && !withheld.has(name)).sort();
    const errno = errnoRet === undefined ? {} : { errnoRet };
    return kept.length === 0 ? [] : [{ names: kept, action, ...errno, ...(args?.length ? { args } : {}) }]; // prettier-ignore
  });
  const additions = Object.entries(added).map(([name, comment]) => ({
    ...{ names: [name], action: 'SCMP_ACT_ALLOW', comment },
  }));
  return { defaultAction, defaultErrnoRet, architectures, syscalls: [...rules, ...additions] };
}

/** @param {Rule} rule */
function applies({ includes = {}, excludes = {} }) {
  const needsCapability = (includes.caps ?? []).length > 0;
  const isForOthers = includes.arches?.length && !includes.arches.some((a) => arches.includes(a));
  const leavesOurs = excludes.arches?.some((arch) => arches.includes(arch));
  return !needsCapability && !isForOthers && !leavesOurs;
}
