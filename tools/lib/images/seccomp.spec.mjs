import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../repo.mjs';
import { levelThreeProfile } from './seccomp.mjs';

const additions = ['clone', 'mount', 'pivot_root', 'sethostname', 'umount2', 'unshare'];
const allow = 'SCMP_ACT_ALLOW';
const refuse = 'SCMP_ACT_ERRNO';

/** @typedef {ReturnType<typeof levelThreeProfile>} Profile */

/**
 * The calls that a profile allows in some way.
 *
 * @param {Profile} profile
 */
const allowedBy = ({ syscalls }) =>
  syscalls.filter(({ action }) => action === allow).flatMap(({ names }) => names);

/** @param {Profile} profile */
function expectAdditions(profile) {
  for (const name of additions) {
    const rules = profile.syscalls.filter(({ names }) => names.includes(name));
    expect(rules).toEqual([{ names: [name], action: allow, comment: expect.any(String) }]);
  }
}

describe("the profile of level 3, made from an engine's default", () => {
  const made = levelThreeProfile({
    defaultAction: refuse,
    defaultErrnoRet: 38,
    syscalls: [
      { names: ['write', 'read', 'keyctl', 'setns'], action: allow, args: null },
      { names: ['bpf', 'mount', 'unshare'], action: allow, includes: { caps: ['CAP_SYS_ADMIN'] } },
      { names: ['bpf', 'sethostname'], action: refuse, errnoRet: 1, excludes: { caps: ['CAP_SYS_ADMIN'] } }, // prettier-ignore
      { names: ['clone'], action: allow, args: [{ index: 0, value: 2114060288, op: 'SCMP_CMP_MASKED_EQ' }], excludes: { caps: ['CAP_SYS_ADMIN'], arches: ['s390'] } }, // prettier-ignore
      { names: ['s390_runtime_instr'], action: allow, includes: { arches: ['s390'] } },
      { names: ['arch_prctl'], action: allow, includes: { arches: ['amd64'] } },
      { names: ['personality'], action: allow, args: [{ index: 0, value: 8, op: 'SCMP_CMP_EQ' }] },
    ],
  });

  it('allows the calls that bubblewrap needs, whatever their arguments, and says why', () => {
    expectAdditions(made);
  });

  it('keeps what the default allows a container without capabilities on our machines', () => {
    expect(allowedBy(made).sort()).toEqual(
      ['arch_prctl', 'personality', 'read', 'write', ...additions].sort(),
    );
    expect(made.syscalls).toContainEqual({ names: ['bpf'], action: refuse, errnoRet: 1 });
    const args = [{ index: 0, value: 8, op: 'SCMP_CMP_EQ' }];
    expect(made.syscalls).toContainEqual({ names: ['personality'], action: allow, args });
    expect(made).toMatchObject({ defaultAction: refuse, defaultErrnoRet: 38 });
  });

  it('is not made from a default that allows what it does not name', () => {
    expect(() => levelThreeProfile({ defaultAction: allow, syscalls: [] })).toThrow(allow);
  });
});

describe('the profile of k8s/components/level-3', () => {
  const file = join(repoRoot, 'k8s/components/level-3/nodes/glovebox-level-3.json');
  /** @type {Profile} */
  const profile = JSON.parse(readFileSync(file, 'utf8'));
  const allowed = allowedBy(profile);

  it('allows the calls that bubblewrap needs, and those of level 2 below it', () => {
    expectAdditions(profile);
    const ofLevel2 = ['landlock_create_ruleset', 'landlock_restrict_self', 'seccomp', 'prctl'];
    expect(allowed).toEqual(expect.arrayContaining(ofLevel2));
  });

  it.each([
    'bpf',
    'perf_event_open',
    'setns',
    'fsopen',
    'move_mount',
    'keyctl',
    'init_module',
    'open_by_handle_at',
    'userfaultfd',
    'chroot',
  ])('does not allow %s, which a user namespace would open', (name) => {
    expect(allowed).not.toContain(name);
  });

  it('has no conditions, which the kubelet would read past', () => {
    const known = ['names', 'action', 'errnoRet', 'args', 'comment'];
    expect(Object.keys(profile).sort()).toEqual([
      'architectures',
      'defaultAction',
      'defaultErrnoRet',
      'syscalls',
    ]);
    for (const rule of profile.syscalls) {
      expect(known).toEqual(expect.arrayContaining(Object.keys(rule)));
    }
  });
});
