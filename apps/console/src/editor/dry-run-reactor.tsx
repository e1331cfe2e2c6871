import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Refused, send } from '../api';
import { TextArea, Tick } from '../parts/fields';
import { Json } from '../parts/text';
import { useMay } from '../session';
import { asObject, DryRun, type Tried } from './dry-run';

interface TriedReactor extends Tried {
  result?: unknown;
}

/** Runs what is in the editor, in the real sandbox, and changes nothing. */
export function DryRunReactor({
  body,
  failed,
  hasNoConfiguration,
}: {
  body: () => object;
  failed: (error: Error | undefined) => void;
  /** A formula alone has none. */
  hasNoConfiguration?: boolean;
}) {
  const [args, setArgs] = useState('{\n  \n}');
  const [network, setNetwork] = useState(false);
  const [svc, setSvc] = useState(false);
  const mayUse = useMay('token:use');
  const run = useMutation({
    mutationFn: () => {
      const given = { args: asObject(args), network, svc };
      return send<TriedReactor>('POST', '/reactors/dry-runs', { ...body(), ...given });
    },
    onSuccess: ({ error }) => failed(error && new Refused(error, undefined)),
    onError: (error) => failed(error),
  });
  return (
    <DryRun
      about={
        hasNoConfiguration
          ? 'Runs the code as it stands in the editor, without a configuration.'
          : 'Runs the code as it stands in the editor, with the configuration that is stored.'
      }
      run={run}
      shown={({ result }) => result !== undefined && <Json value={result} />}
    >
      <TextArea label="args (JSON)" value={args} change={setArgs} />
      <Tick
        label="With the network: requests of the code really leave"
        value={network}
        change={setNetwork}
      />
      {mayUse && !hasNoConfiguration && (
        <Tick
          label="With svc: tokens are really made, changed and read"
          value={svc}
          change={setSvc}
        />
      )}
    </DryRun>
  );
}
