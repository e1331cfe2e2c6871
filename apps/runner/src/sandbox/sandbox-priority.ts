import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** The product's own processes have 0. */
const sandboxNice = 10;
const groupRetryMs = 100;

/** The processes of the product go first on a machine that sandboxes keep busy. False: not allowed. */
export function stepBack(pid: number, isGone: () => boolean): boolean {
  try {
    // The kernel keeps a priority for each thread; a new one has that of the thread it comes of.
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      setPriority(Number(thread), sandboxNice);
    }
  } catch (error) {
    // It ended meanwhile, or the runner may not: it works without, its neighbours wait longer.
    const { info } = error as { info?: { code?: string } };
    if (info?.code === 'EPERM' || info?.code === 'EACCES') return false;
  }
  groupStepsBack(pid, isGone);
  return true;
}

/**
 * Where the kernel makes a group of each session, threads compete within their group alone, and
 * groups by a priority of their own. At level 3 a sandbox is a session.
 */
function groupStepsBack(pid: number, isGone: () => boolean): void {
  const group = groupOf(pid);
  if (group === undefined || group === groupOf('self') || isGone()) return;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(sandboxNice));
  } catch (error) {
    // The kernel takes ten of these a second from those who are not root.
    const isTooSoon = (error as NodeJS.ErrnoException).code === 'EAGAIN';
    if (isTooSoon) setTimeout(() => groupStepsBack(pid, isGone), groupRetryMs).unref();
  }
}

function groupOf(pid: number | 'self'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/autogroup`, 'utf8').split(' ')[0];
  } catch {
    return undefined;
  }
}
