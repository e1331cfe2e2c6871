import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from './dialog';
import { TextField } from './fields';
import { ProblemBox } from './states';
import { Text } from './text';

/** Deletes what somebody has named: a click alone is too easy. */
export function Delete({
  what,
  name,
  warning,
  remove,
  done,
}: {
  what: string;
  name: string;
  warning: string;
  remove: () => Promise<unknown>;
  done: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: () => {
      setAsking(false);
      done();
    },
  });
  const ask = () => {
    removal.reset();
    setTyped('');
    setAsking(true);
  };
  return (
    <>
      <button type="button" className="danger" onClick={ask}>
        Delete…
        <span className="unseen">
          {' '}
          {what} {name}
        </span>
      </button>
      {isAsking && (
        <Dialog title={`Delete this ${what}`} close={() => setAsking(false)}>
          <form
            className="stacked"
            onSubmit={(event) => {
              event.preventDefault();
              if (typed === name) removal.mutate();
            }}
          >
            <p>{warning}</p>
            <p>
              Type{' '}
              <strong>
                <Text>{name}</Text>
              </strong>{' '}
              to confirm.
            </p>
            <TextField label="Name" value={typed} change={setTyped} />
            <ProblemBox error={removal.error} />
            <div className="row">
              <button
                type="submit"
                className="danger"
                disabled={typed !== name || removal.isPending}
              >
                {removal.isPending ? 'Deleting…' : 'Delete'}
              </button>
              <button type="button" onClick={() => setAsking(false)}>
                Cancel
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
