import { shownAsCodePoints } from '../foreign-text';

/** Text of others: names, answers, messages. It is isolated, and what hides in it is named. */
export function Text({ children }: { children: string | undefined }) {
  return <bdi>{pieces(children ?? '')}</bdi>;
}

/** Text of others in lines: output of code, bodies. A box of them is scrolled by keyboard, too. */
export function Lines({ children, isBox = true }: { children: string; isBox?: boolean }) {
  return (
    <pre className="lines" {...(isBox ? { tabIndex: 0 } : {})}>
      <bdi>{pieces(children, '\n\t')}</bdi>
    </pre>
  );
}

/** A value of others, as JSON. */
export function Json({ value }: { value: unknown }) {
  return <Lines>{JSON.stringify(value, null, 2) ?? 'undefined'}</Lines>;
}

function pieces(text: string, keep = '') {
  return shownAsCodePoints(text, keep).map(({ text, isCodePoint }, index) =>
    isCodePoint ? (
      <span key={index} className="code-point">
        {text}
      </span>
    ) : (
      text
    ),
  );
}
