import { useBlocker } from '@tanstack/react-router';
import { useEffect, useId } from 'react';
import { Dialog } from './dialog';

/** Editors of the screen that hold what nobody has saved. */
const unsaved = new Set<string>();

/** Says that this editor holds unsaved text, until it does not, or is gone. */
export function useUnsaved(isChanged: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isChanged) return;
    unsaved.add(id);
    return () => void unsaved.delete(id);
  }, [id, isChanged]);
}

/** Asks before a link, the way back or a reload takes away what was typed. */
export function LeaveGuard() {
  const { status, proceed, reset } = useBlocker({
    // A filter of the screen leaves its editors where they are.
    shouldBlockFn: ({ current, next }) => unsaved.size > 0 && current.pathname !== next.pathname,
    enableBeforeUnload: () => unsaved.size > 0,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <Dialog title="Leave without saving?" close={reset}>
      <p>What you typed on this screen is not saved. It is lost if you leave.</p>
      <div className="row">
        <button type="button" className="primary" onClick={reset}>
          Stay here
        </button>
        <button type="button" className="danger" onClick={proceed}>
          Leave, and lose it
        </button>
      </div>
    </Dialog>
  );
}
