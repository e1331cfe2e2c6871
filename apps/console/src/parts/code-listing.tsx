import { useState } from 'react';
import { shownAsCodePoints } from '../foreign-text';
import type { Position } from '../api-types';

const around = 6;

/** Code to read, with the line that failed. Long code is shown around it. */
export function CodeListing({ code, failed }: { code: string; failed: Position | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const lines = code.split('\n');
  const from = isWhole || !failed ? 1 : Math.max(1, failed.line - around);
  const to = isWhole || !failed ? lines.length : Math.min(lines.length, failed.line + around);
  return (
    <>
      <div className="listing" role="group" aria-label="Lines of the code" tabIndex={0}>
        {lines.slice(from - 1, to).map((text, index) => {
          const number = from + index;
          const isFailed = number === failed?.line;
          return (
            <div key={number} className={isFailed ? 'failed' : undefined}>
              <span className="line-number">{number}</span>
              <code>
                {isFailed ? <mark>{shown(text)}</mark> : shown(text)}
                {isFailed && <span className="unseen"> (line {number} failed)</span>}
              </code>
            </div>
          );
        })}
      </div>
      {(from > 1 || to < lines.length) && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {lines.length} lines
        </button>
      )}
    </>
  );
}

const shown = (text: string) =>
  shownAsCodePoints(text, '\t').map(({ text, isCodePoint }, index) =>
    isCodePoint ? (
      <span key={index} className="code-point">
        {text}
      </span>
    ) : (
      text
    ),
  );
