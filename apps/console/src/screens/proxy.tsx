import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Refused, type Answer } from '../api';
import type { ProxyResource, Runtime, Transform } from '../api-types';
import { ApplicationChoice } from '../editor/application-choice';
import { CodeEditor } from '../editor/code';
import { namesOfTransform } from '../editor/complete-names';
import { Configuration } from '../editor/configuration';
import { SaveBar, useDraft, useVersion } from '../editor/draft';
import { DryRunProxy } from '../editor/dry-run';
import { faultsOf } from '../editor/faults';
import { runtimes } from '../editor/formula-editor';
import { Id } from '../parts/facts';
import { Choice, TextArea, TextField, Tick } from '../parts/fields';
import { useFilters } from '../parts/filters';
import { Screen, Section } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Text } from '../parts/text';
import { useMay } from '../session';

export function ProxyScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const proxy = useVersion<ProxyResource>(`/proxies/${encodeURIComponent(id)}`);
  return (
    <Screen
      title="Proxy"
      about={proxy.data && <Text>{proxy.data.body.name}</Text>}
      actions={
        <>
          <Link to="/calls" search={{ proxy_id: id }}>
            Calls
          </Link>
          <Link to="/runs" search={{ resource_id: id }}>
            Runs
          </Link>
        </>
      }
    >
      <Loaded query={proxy} rows={20}>
        {(first) => <Edited key={first.body.id} first={first} />}
      </Loaded>
    </Screen>
  );
}

/** What a proxy is made of, without what only the API sets. */
const tried = [
  'name',
  'destination_url',
  'require_auth',
  'detokenize',
  'application_id',
  'request_transform',
  'response_transform',
  'request_transforms',
  'response_transforms',
] as const;

function Edited({ first }: { first: Answer<ProxyResource> }) {
  const mayEdit = useMay('proxy:update');
  const { id } = first.body;
  const draft = useDraft<ProxyResource>(`/proxies/${id}`, first);
  const { now, base, changes, save } = draft;
  const [dryFailure, setDryFailure] = useState<{
    at: string | undefined;
    error: Error | undefined;
  }>();
  const names = base.configuration_set ?? [];
  const body = () => ({
    proxy_id: id,
    proxy: Object.fromEntries(
      tried.flatMap((member) => (now[member] ? [[member, now[member]] as const] : [])),
    ),
  });
  const side = (which: 'request' | 'response') => ({
    which,
    value: now[`${which}_transform`],
    change: (transform: Transform | null) => draft.change(`${which}_transform`, transform),
    error:
      save.error ??
      (dryFailure?.at === (which === 'request' ? 'request' : 'answer')
        ? dryFailure.error
        : undefined),
    configuration: names,
    isReadOnly: !mayEdit,
  });
  return (
    <>
      <Section title="Destination">
        <div className="panel">
          <div className="fields">
            <TextField
              label="Name"
              value={now.name}
              isReadOnly={!mayEdit}
              change={(name) => draft.change('name', name)}
            />
            <TextField
              label="URL"
              value={now.destination_url}
              isReadOnly={!mayEdit}
              change={(url) => draft.change('destination_url', url)}
            />
            <TextField
              label="Waits for an answer (ms)"
              type="number"
              hint="30,000 if empty."
              value={String(now.timeout_ms ?? '')}
              isReadOnly={!mayEdit}
              change={(ms) => draft.change('timeout_ms', ms === '' ? null : Number(ms))}
            />
            <ApplicationChoice
              value={now.application_id}
              isReadOnly={!mayEdit}
              change={(application) => draft.change('application_id', application)}
            />
            <div className="field">
              <span>Id</span>
              <Id value={id} what="proxy id" />
            </div>
          </div>
          <Tick
            label="Calls need an API key"
            value={now.require_auth}
            isReadOnly={!mayEdit}
            change={(is) => draft.change('require_auth', is)}
          />
          <Tick
            label="Expressions are replaced by data"
            value={now.detokenize}
            isReadOnly={!mayEdit}
            change={(is) => draft.change('detokenize', is)}
          />
        </div>
      </Section>
      <TransformEditor {...side('request')} />
      <TransformEditor {...side('response')} />
      <Section title="Steps without code">
        <div className="panel">
          {(['request_transforms', 'response_transforms'] as const).map((member) => (
            <Steps
              key={member}
              label={
                member === 'request_transforms'
                  ? 'Steps of the request (JSON)'
                  : 'Steps of the answer (JSON)'
              }
              value={now[member]}
              isReadOnly={!mayEdit}
              change={(steps) => draft.change(member, steps)}
            />
          ))}
        </div>
      </Section>
      <Section title="Configuration">
        <Configuration
          names={names}
          set={names}
          typed={(changes.configuration ?? {}) as Record<string, unknown>}
          change={(typed) => draft.change('configuration', typed)}
          isReadOnly={!mayEdit}
          mayAdd
        />
      </Section>
      <ProblemBox error={save.error} />
      <SaveBar draft={draft} what="proxy" mayEdit={mayEdit} />
      {mayEdit && (
        <Section title="Dry run">
          <DryRunProxy body={body} failed={(at, error) => setDryFailure({ at, error })} />
        </Section>
      )}
    </>
  );
}

interface Edit {
  which: 'request' | 'response';
  value: Transform | undefined;
  change: (transform: Transform | null) => void;
  error: Error | null | undefined;
  configuration: readonly string[];
  isReadOnly: boolean;
}

const beginning = `module.exports = async function ({ args, configuration, svc }) {
  return { headers: args.headers, body: args.body };
};
`;

function TransformEditor({ which, value, change, error, configuration, isReadOnly }: Edit) {
  const [{ line }] = useFilters();
  const faults = useMemo(() => (error instanceof Refused ? faultsOf(error.problem) : []), [error]);
  const names = useMemo(
    () => namesOfTransform(which, configuration),
    [which, configuration.join('\n')],
  );
  const title = which === 'request' ? 'Code for the request' : 'Code for the answer';
  if (!value) {
    return (
      <Section
        title={title}
        actions={
          !isReadOnly && (
            <button type="button" onClick={() => change({ code: beginning, runtime: 'node24' })}>
              Add code
            </button>
          )
        }
      >
        <p className="empty">There is none.</p>
      </Section>
    );
  }
  return (
    <Section
      title={title}
      actions={
        !isReadOnly && (
          <button type="button" onClick={() => change(null)}>
            Remove code
          </button>
        )
      }
    >
      <div className="row">
        <Choice
          label="Runtime"
          value={value.runtime ?? 'node16'}
          choices={runtimes}
          isReadOnly={isReadOnly}
          change={(runtime) => change({ ...value, runtime: runtime as Runtime })}
        />
      </div>
      <CodeEditor
        label={title}
        value={value.code}
        change={(code) => change({ ...value, code })}
        faults={faults}
        names={names}
        isReadOnly={isReadOnly}
        line={line ? Number(line) : undefined}
      />
    </Section>
  );
}

function Steps({
  label,
  value,
  change,
  isReadOnly,
}: {
  label: string;
  value: unknown[] | undefined;
  change: (steps: unknown[]) => void;
  isReadOnly: boolean;
}) {
  const [text, setText] = useState(JSON.stringify(value ?? [], null, 2));
  const [isWrong, setWrong] = useState(false);
  const type = (next: string) => {
    setText(next);
    try {
      const steps: unknown = JSON.parse(next);
      setWrong(!Array.isArray(steps));
      if (Array.isArray(steps)) change(steps);
    } catch {
      setWrong(true);
    }
  };
  return (
    <TextArea
      label={label}
      rows={Math.min(12, text.split('\n').length + 1)}
      value={text}
      change={type}
      isReadOnly={isReadOnly}
      hint={isWrong && <span className="bad">This is not a JSON list yet: it is not taken.</span>}
    />
  );
}
