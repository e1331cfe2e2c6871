import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@glovebox/testing';
import { rangeOf, sandboxUidCount, takeSandboxUid } from './sandbox-uids';
import { specLevels, startSpecRunner } from '../spec-runner';

const own = process.getuid?.() ?? -1;
const nobody = 65_534;
const first = 800_000_000;

describe.each(specLevels)('at level %i', (level) => {
  it(
    own === 0
      ? 'each sandbox of a runner that is root has a uid and a gid that nothing else has'
      : 'the sandboxes of a runner that is not root have its uid',
    async () => {
      const before = childrenOf(process.pid);
      const runner = await startSpecRunner({ SANDBOX_LEVEL: String(level), SANDBOX_WARM: '2' });
      try {
        const code = 'module.exports = () => ({})';
        await Promise.all([runner.run(code), runner.run(code, { tenantId: 'another' })]);
        const idsOfSandboxes = () =>
          childrenOf(process.pid)
            .filter((pid) => !before.includes(pid))
            .map((pid) => [...new Set(familyOf(pid).flatMap(idsOf))]);
        if (own !== 0) {
          expect(new Set(idsOfSandboxes().map(([uid]) => uid))).toEqual(new Set([own]));
          return;
        }
        // One that is just being started is root until it has changed its user.
        const ids = await waitFor(() => {
          const now = idsOfSandboxes();
          for (const each of now) expect([each.length, each.includes(own)]).toEqual([1, false]);
          return now;
        });
        expect(ids.length).toBeGreaterThanOrEqual(4);
        const uids = ids.flat();
        expect(new Set(uids).size).toBe(ids.length);
        for (const uid of uids) {
          expect(uid).toBeGreaterThanOrEqual(first);
          expect(uid).toBeLessThan(first + sandboxUidCount);
          expect([own, nobody]).not.toContain(uid);
        }
      } finally {
        await runner.stop();
      }
    },
  );
});

it('a uid is reused only after its sandbox has ended', () => {
  const taken = Array.from({ length: 100 }, () => takeSandboxUid(first));
  const [ended, ...live] = taken;
  ended?.release();
  const more = Array.from({ length: 100 }, () => takeSandboxUid(first));
  const uids = [...live, ...more].map(({ uid }) => uid);
  expect(new Set(uids).size).toBe(uids.length);
  for (const { release } of [...live, ...more]) release();
});

it.each([
  ['a machine', '         0          0 4294967295\n', { first, count: sandboxUidCount }],
  ['a container with 65,536 ids', '0 1000 1\n1 100000 65536\n', { first: 30_000, count: 30_000 }],
  ['a namespace of one user', '0 1000 1\n', { first, count: sandboxUidCount }],
])('uids on %s come from a range that exists there, if one does', (_, uidMap, range) => {
  expect(rangeOf(first, uidMap)).toEqual(range);
});

it('each app has a uid of its own in Kubernetes, and sandboxes have that of the runner', () => {
  const folder = join(__dirname, '../../../../k8s');
  const uids = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.startsWith('base/') && file.endsWith('.yaml'))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/runAsUser: (\d+)/g)])
    .map(([, uid]) => uid);
  expect(uids).toHaveLength(4);
  expect(new Set(uids).size).toBe(4);
});

/** The real, effective, saved and file-system ids of the user, then those of the group. */
function idsOf(pid: number): number[] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return [...status.matchAll(/^[UG]id:(.+)$/gm)].flatMap(([, ids = '']) =>
    ids.trim().split(/\s+/).map(Number),
  );
}

function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
}
