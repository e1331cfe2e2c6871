import { useState, type ReactNode } from 'react';
import { Dialog } from '../parts/dialog';
import { Tick } from '../parts/fields';
import { ProblemBox } from '../parts/states';
import { CodeDiff } from './code';
import type { Draft } from './draft';

/** Saves a draft after its changes were shown, and never over what somebody else has saved. */
export function SaveBar({
  draft,
  what,
  mayEdit,
  warning,
}: {
  draft: Draft;
  what: string;
  mayEdit: boolean;
  /** What the changes take away: it has to be agreed to. */
  warning?: ReactNode;
}) {
  const [isReviewing, setReviewing] = useState(false);
  const { save, isChanged, theirs, base, now, changes } = draft;
  if (!mayEdit)
    return <p className="save-bar quiet">You may read this {what}, and not change it.</p>;
  const members = Object.keys(changes);
  const review = () => {
    save.reset();
    setReviewing(true);
  };
  const goOn = (withMine: boolean) => {
    draft.goOn(withMine);
    setReviewing(false);
  };
  return (
    <div className="save-bar">
      <button type="button" className="primary" disabled={!isChanged} onClick={review}>
        Review and save…
      </button>
      {isChanged && (
        <button type="button" onClick={draft.discard}>
          Discard changes
        </button>
      )}
      <span role="status" className="quiet">
        {isChanged
          ? 'There are unsaved changes.'
          : save.isSuccess
            ? 'Saved. It counts from the next call.'
            : ''}
      </span>
      {isReviewing && theirs === undefined && (
        <Dialog title={`Save this ${what}`} isWide close={() => setReviewing(false)}>
          <Versions
            members={members}
            before={base}
            after={now}
            heads={['As it is', 'As you want it']}
          />
          <ProblemBox error={save.error} />
          <Agreed warning={warning}>
            {(isAgreed) => (
              <div className="row">
                <button
                  type="button"
                  className={warning ? 'danger' : 'primary'}
                  disabled={save.isPending || !isAgreed}
                  onClick={() => save.mutate(undefined, { onSuccess: () => setReviewing(false) })}
                >
                  {save.isPending ? 'Saving…' : 'Save'}
                </button>
                <button type="button" onClick={() => setReviewing(false)}>
                  Go on editing
                </button>
              </div>
            )}
          </Agreed>
        </Dialog>
      )}
      {theirs !== undefined && (
        <Dialog title={`Somebody else has changed this ${what}`} isWide>
          <p>Nothing was overwritten. Both versions, side by side:</p>
          <Versions members={members} before={theirs} after={now} heads={['Theirs', 'Yours']} />
          <div className="row">
            <button type="button" className="primary" onClick={() => goOn(true)}>
              Go on with yours
            </button>
            <button type="button" onClick={() => goOn(false)}>
              Take theirs
            </button>
          </div>
          <p className="quiet">Yours is saved only when you review and save it again.</p>
        </Dialog>
      )}
    </div>
  );
}

/** Makes what the form holds. What the API refuses stands at its member. */
export function CreateBar({
  make,
  what,
}: {
  make: { error: Error | null; isPending: boolean; mutate: () => void };
  what: string;
}) {
  return (
    <>
      <ProblemBox error={make.error} />
      <div className="save-bar">
        <button
          type="button"
          className="primary"
          disabled={make.isPending}
          onClick={() => make.mutate()}
        >
          {make.isPending ? 'Creating…' : `Create this ${what}`}
        </button>
      </div>
    </>
  );
}

function Agreed({
  warning,
  children,
}: {
  warning: ReactNode;
  children: (isAgreed: boolean) => ReactNode;
}) {
  const [isAgreed, setAgreed] = useState(false);
  if (!warning) return children(true);
  return (
    <>
      <div className="notice warn">{warning}</div>
      <Tick
        label="I know that calls which need this will see less, or be refused"
        value={isAgreed}
        change={setAgreed}
      />
      {children(isAgreed)}
    </>
  );
}

interface Compared {
  members: readonly string[];
  before: object;
  after: object;
  heads: [string, string];
}

function Versions({ members, before, after, heads }: Compared) {
  return members.map((member) => (
    <section key={member} aria-label={member.replaceAll('_', ' ')}>
      <h3>{member.replaceAll('_', ' ')}</h3>
      {member === 'configuration' || member === 'client_certificate' ? (
        <p>{newValues(member, after)}</p>
      ) : (
        <>
          <p className="diff-heads" aria-hidden="true">
            <span>{heads[0]}</span>
            <span>{heads[1]}</span>
          </p>
          <CodeDiff before={asText(before, member)} after={asText(after, member)} />
        </>
      )}
    </section>
  ));
}

/** Secrets are not shown, not even those that were just typed. */
function newValues(member: string, after: object): string {
  const value: unknown = after[member as keyof typeof after];
  if (value === null) return 'It will be removed.';
  const names = Object.entries(value as object);
  const set = names.filter(([, value]) => value !== null).map(([name]) => name);
  const removed = names.filter(([, value]) => value === null).map(([name]) => name);
  return [
    set.length > 0 && `${set.join(', ')} will be set anew.`,
    removed.length > 0 && `${removed.join(', ')} will be removed.`,
    'Values are never shown.',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Code as code, everything else as JSON. */
function asText(resource: object, member: string): string {
  const value: unknown = resource[member as keyof typeof resource];
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && 'code' in value && typeof value.code === 'string') {
    const { code, ...others } = value;
    return `// ${JSON.stringify(others)}\n${code}`;
  }
  return JSON.stringify(value, null, 2);
}
