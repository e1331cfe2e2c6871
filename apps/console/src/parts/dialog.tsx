import { useEffect, useId, useRef, type ReactNode } from 'react';

/**
 * Asks something before it is done. Escape and `close` leave everything as it was. Without `close` it
 * stays until one of its buttons is chosen.
 */
export function Dialog({
  title,
  close,
  isWide,
  children,
}: {
  title: string;
  close?: (() => void) | undefined;
  isWide?: boolean;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'wide' : undefined}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        close?.();
      }}
      // A browser closes it at the second Escape, whatever was said to the first.
      onClose={() => (close ? close() : dialog.current?.showModal())}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}
