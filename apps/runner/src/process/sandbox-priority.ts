import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** The product's own processes have 0, which goes first. */
const sandboxNice = 10;
const groupRetryMs = 100;

/** Lets the product's processes go first on a busy machine. False: this runner may not do it. */
export function stepBack(pid: number, isGone: () => boolean): boolean {
  try {
    // The kernel keeps a priority per thread. A new thread inherits that of its creator.
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      setPriority(Number(thread), sandboxNice);
    }
  } catch (error) {
    // The process has ended, or the runner may not. Without it neighbours only wait longer.
    const { info } = error as { info?: { code?: string } };
    if (info?.code === 'EPERM' || info?.code === 'EACCES') return false;
  }
  groupStepsBack(pid, isGone);
  return true;
}

/**
 * Where the kernel makes each session a group, threads compete only within their group, and groups
 * by a priority of their own. At level 3 a sandbox is a session.
 */
function groupStepsBack(pid: number, isGone: () => boolean): void {
  const group = groupOf(pid);
  if (group === undefined || group === groupOf('self') || isGone()) return;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(sandboxNice));
  } catch (error) {
    // The kernel accepts ten of these a second from a user other than root.
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
