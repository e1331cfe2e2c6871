import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunOutcome } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import { specLevels, specRuntimes, startSpecRunner, type SpecRunner } from '../spec-runner';

/** Sandboxes end in every way, many times, and nothing of them stays in the runner. */
const cycles = 500;

const loop = 'module.exports = () => { for (;;); }';
const bomb =
  'module.exports = () => { const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1)) }';
const end = `module.exports = () => {
  process.removeAllListeners('uncaughtException');
  setTimeout(() => { throw new Error('end') });
  return new Promise(() => {}) }`;
const close = `module.exports = () => {
  process._getActiveHandles()[0].destroy();
  return new Promise(() => {}) }`;

/** A busy machine delays a run, and does not refuse it. */
const patient = { SANDBOX_QUEUE_WAIT_MS: '30000' };

type Way = (runner: SpecRunner, n: number) => Promise<RunOutcome>;
const ways: readonly Way[] = [
  (runner, n) => runner.run(loop, { ...own(n), timeoutMs: 200 }),
  (runner, n) => {
    const caller = new AbortController();
    setTimeout(() => caller.abort(), 200);
    return runner.run(loop, own(n), { signal: caller.signal });
  },
  (runner, n) => runner.run(bomb, own(n)),
  (runner, n) => runner.run(end, own(n)),
  (runner, n) => runner.run(close, own(n)),
];

const own = (n: number) => ({
  runtime: specRuntimes[n % specRuntimes.length] ?? ('node20' as const),
  codeHash: `ended ${n}`,
  // A bomb that is only refused its memory ends with its run.
  isolation: 'run' as const,
});

it.each(specLevels)(
  'nothing is left of 500 sandboxes that ended at level %i',
  async (level) => {
    const workDir = mkdtempSync(join(tmpdir(), 'glovebox-cycles-'));
    chmodSync(workDir, 0o755);
    const env = { SANDBOX_LEVEL: String(level), RUNNER_WORK_DIR: workDir, ...patient };
    const runner = await startSpecRunner(env);
    const endedBy = async (n: number): Promise<void> => {
      const outcome = await ways[n % ways.length]?.(runner, n);
      expect(outcome?.kind).toMatch(/^(timed_out|died|threw)$/);
    };
    try {
      // One of each way, because some things are made at first use and kept.
      for (let n = 0; n < ways.length; n += 1) await endedBy(n);
      const before = await atRest(runner, workDir);
      for (let n = 0; n < cycles; n += 1) await endedBy(n);
      expect(await atRest(runner, workDir)).toEqual(before);
    } finally {
      await runner.stop();
    }
    await waitFor(() => children().length === 0);
    rmSync(workDir, { recursive: true, force: true });
  },
  60 * 60_000,
);

/** What the runner holds once only generic sandboxes are left: as many as it keeps ready. */
async function atRest(runner: SpecRunner, workDir: string): Promise<object> {
  const expected = specRuntimes.length;
  await waitFor(() => runner.ctx.pool.counts.loaded === 0, { timeoutMs: 60_000 });
  await waitFor(() => ready().length === expected && zombies().length === 0, { timeoutMs: 60_000 });
  return {
    children: children().length,
    users: new Set(ready().map(({ uid }) => uid)).size,
    descriptors: descriptors(),
    files: readdirSync(workDir, { recursive: true }).map(String).sort(),
  };
}

interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly name: string;
  readonly uid: number;
}

function seen(pid: number): SeenProcess[] {
  try {
    const [, name = '', rest = ''] =
      /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    const [state = '', parent] = rest.split(' ');
    return [{ pid, name, state, parent: Number(parent), uid: statSync(`/proc/${pid}`).uid }];
  } catch {
    return [];
  }
}

/** The descendants of this process, which holds the runner. */
function children(): SeenProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const all = new Map(pids.flatMap((pid) => seen(Number(pid)).map((each) => [each.pid, each])));
  const isOurs = (parent: number): boolean =>
    parent === process.pid || (all.has(parent) && isOurs(all.get(parent)?.parent ?? 0));
  return [...all.values()].filter(({ pid, parent }) => isOurs(parent) && !others.has(pid));
}

/** Jest may have children of its own. */
const others = new Set<number>();
beforeAll(() => {
  for (const { pid } of children()) others.add(pid);
});

const zombies = (): SeenProcess[] => children().filter(({ state }) => state === 'Z');
const ready = (): SeenProcess[] => children().filter(({ name }) => name !== 'bwrap');

/** The kinds of this process's open files, and how many it has of each. */
function descriptors(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of readdirSync('/proc/self/fd')) {
    let kind = 'gone';
    try {
      kind = readlinkSync(`/proc/self/fd/${name}`).replace(/\[\d+\]/, '');
    } catch {
      // It was that of the listing itself.
    }
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
