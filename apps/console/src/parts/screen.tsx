import { useEffect, useRef, type ReactNode } from 'react';

/** A screen: its heading takes the focus, so that a reader hears where they are. */
export function Screen({
  title,
  about,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Glovebox`;
  }, [title]);
  useEffect(() => {
    // At the first load the browser's own order holds.
    if (document.activeElement !== document.body || history.length > 1) {
      heading.current?.focus({ preventScroll: true });
    }
  }, []);
  return (
    <>
      <header className="screen-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about && <p className="quiet">{about}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title}>
      <div className="section-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
