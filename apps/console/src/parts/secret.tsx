import { useState, type ReactNode } from 'react';
import { Dialog } from './dialog';

/** A secret that the API tells once. When this is closed, the page knows it no longer. */
export function SecretOnce({
  title,
  name,
  secret,
  children,
  done,
}: {
  title: string;
  name: string;
  secret: string;
  children?: ReactNode;
  done: () => void;
}) {
  const [copied, setCopied] = useState<'yes' | 'refused'>();
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => setCopied('yes'),
      () => setCopied('refused'),
    );
  return (
    <Dialog title={title}>
      {children}
      <p>
        <strong>Keep it now: it is shown only this once.</strong>
      </p>
      <p className="notice">
        <code aria-label={name}>{secret}</code>
      </p>
      <div className="row">
        <button type="button" className="primary" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={done}>
          I have kept it
        </button>
        <span role="status" className="quiet">
          {copied === 'yes' && 'Copied.'}
          {copied === 'refused' && 'The browser does not copy it: select it by hand.'}
        </span>
      </div>
    </Dialog>
  );
}
