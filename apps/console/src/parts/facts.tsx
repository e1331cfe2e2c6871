import { Link } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { cutMiddle, exactTime, shortTime } from '../format';
import { Text } from './text';

/** A long id, cut in the middle: whole on hover, and by its button in the clipboard. */
export function Id({ value, to, what = 'id' }: { value: string; to?: string; what?: string }) {
  const text = <Text>{cutMiddle(value)}</Text>;
  return (
    <span className="id">
      {to === undefined ? (
        <span className="mono" title={value}>
          {text}
        </span>
      ) : (
        <Link to={to} className="mono" title={value}>
          {text}
        </Link>
      )}
      <Copy value={value} what={what} />
    </span>
  );
}

function Copy({ value, what }: { value: string; what: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void navigator.clipboard.writeText(value).then(() => setCopied(true));
  return (
    <button type="button" className="copy" aria-label={`Copy ${what} ${value}`} onClick={copy}>
      <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true">
        <path d={copied ? 'M3 8.5 6.5 12 13 4.5' : 'M5.5 5.5h8v8h-8zM10.5 2.5h-8v8'} />
      </svg>
    </button>
  );
}

/** In the reader's zone; the exact time on hover. */
export function Time({ at }: { at: string | undefined }) {
  if (at === undefined) return <span className="quiet">–</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {shortTime(at)}
    </time>
  );
}

const tones: Record<string, 'good' | 'bad' | 'warn' | 'quiet'> = {
  completed: 'good',
  delivered: 'good',
  success: 'good',
  ready: 'good',
  failed: 'bad',
  refused: 'bad',
  rejected: 'bad',
  unreachable: 'bad',
  timed_out: 'bad',
  destination_error: 'warn',
  held: 'warn',
  left: 'quiet',
  pending: 'quiet',
  running: 'quiet',
};

/** A state in words; the colour says nothing that the word does not. */
export function Status({ of }: { of: string }) {
  return (
    <span className={`status ${tones[of] ?? 'quiet'}`}>
      <Text>{of.replaceAll('_', ' ')}</Text>
    </span>
  );
}

/** Names and values, in two columns. Facts without a value are left out. */
export function Facts({ of, label }: { of: [name: string, value: ReactNode][]; label?: string }) {
  const known = of.filter(([, value]) => value !== undefined && value !== false && value !== '');
  return (
    <dl className="facts" aria-label={label}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Text>{name}</Text>
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
