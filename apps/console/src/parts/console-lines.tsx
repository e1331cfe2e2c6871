import type { ConsoleLine } from '../api-types';
import { Time } from './facts';
import { Lines } from './text';

/** What code wrote with console. */
export function ConsoleLines({ lines }: { lines: readonly ConsoleLine[] }) {
  if (lines.length === 0) return <p className="empty">The code wrote nothing.</p>;
  return (
    <ol className="console-lines">
      {lines.map(({ at, level, text }, index) => (
        <li key={index} className={level}>
          <Time at={at} />
          <span className="level">{level}</span>
          <Lines isBox={false}>{text}</Lines>
        </li>
      ))}
    </ol>
  );
}
