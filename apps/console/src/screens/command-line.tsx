import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api';
import { Facts, Time } from '../parts/facts';
import { TextField } from '../parts/fields';
import { Screen, Section } from '../parts/screen';
import { ProblemBox } from '../parts/states';
import { Text } from '../parts/text';
import { useSession } from '../session';

interface Asking {
  machine: string;
  network: string;
  begun_at: string;
  role: string;
  permissions: string[];
}

/** Signs in a command line, if the person wants it. The code is typed: a link cannot bring one. */
export function CommandLineScreen() {
  const [code, setCode] = useState('');
  const find = useMutation({
    mutationFn: () => send<Asking>('POST', '/console/machines/find', { user_code: code }),
  });
  const decide = useMutation({
    mutationFn: (confirm: boolean) =>
      send<void>('POST', '/console/machines/decide', { user_code: code, confirm }),
  });
  return (
    <Screen
      title="Sign in a command line"
      about="glovebox login --web shows a code, and waits for ten minutes."
    >
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          decide.reset();
          find.mutate();
        }}
      >
        <TextField label="Code" value={code} change={setCode} hint="Eight letters" />
        <button type="submit" className="primary" disabled={find.isPending}>
          Show who asks
        </button>
      </form>
      <ProblemBox error={find.error} />
      {find.data && decide.isSuccess && (
        <p className="notice" role="status">
          {decide.variables
            ? 'Signed in. You may close this page: the command line goes on.'
            : 'Refused. The command line was told so.'}
        </p>
      )}
      {find.data && !decide.isSuccess && (
        <Asker asking={find.data} isPending={decide.isPending} decide={decide.mutate} />
      )}
      <ProblemBox error={decide.error} />
    </Screen>
  );
}

function Asker({
  asking: { machine, network, begun_at: at, role, permissions },
  isPending,
  decide,
}: {
  asking: Asking;
  isPending: boolean;
  decide: (confirm: boolean) => void;
}) {
  const { person, tenant } = useSession();
  return (
    <Section title="Who asks">
      <Facts
        of={[
          ['Machine', <Text>{machine}</Text>],
          ['From', <Text>{network}</Text>],
          ['Asked', <Time at={at} />],
          ['Signs in as', <Text>{`${person.name}, ${role} of ${tenant.name}`}</Text>],
          ['For', '12 hours'],
          ['May', <Text>{permissions.join(', ')}</Text>],
        ]}
      />
      <p className="notice warn">
        Confirm only what you have begun yourself just now, on a machine that you know. Whoever has
        sent you this code would act as you.
      </p>
      <p className="actions">
        <button type="button" className="primary" disabled={isPending} onClick={() => decide(true)}>
          Sign it in
        </button>
        <button type="button" disabled={isPending} onClick={() => decide(false)}>
          Refuse
        </button>
      </p>
    </Section>
  );
}
