import { Link, useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { Answer } from '../api';
import type { Formula, Reactor } from '../api-types';
import { ApplicationChoice } from '../editor/application-choice';
import { Configuration } from '../editor/configuration';
import { SaveBar, useDraft, useVersion } from '../editor/draft';
import { DryRunReactor } from '../editor/dry-run';
import { FormulaEditor } from '../editor/formula-editor';
import { Id } from '../parts/facts';
import { Choice, TextField } from '../parts/fields';
import { useFilters } from '../parts/filters';
import { Screen, Section } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Text } from '../parts/text';
import { useMay } from '../session';

export function ReactorScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const reactor = useVersion<Reactor>(`/reactors/${encodeURIComponent(id)}`);
  const formulaId = reactor.data?.body.formula.id;
  const formula = useVersion<Formula>(`/reactor-formulas/${formulaId}`, formulaId !== undefined);
  return (
    <Screen
      title="Reactor"
      about={reactor.data && <Text>{reactor.data.body.name}</Text>}
      actions={
        <>
          <Link to="/calls" search={{ reactor_id: id }}>
            Calls
          </Link>
          <Link to="/runs" search={{ resource_id: id }}>
            Runs
          </Link>
        </>
      }
    >
      <Loaded query={reactor} rows={20}>
        {(first) => (
          <Loaded query={formula} rows={16}>
            {(code) => <Edited key={first.body.id} first={first} code={code} />}
          </Loaded>
        )}
      </Loaded>
    </Screen>
  );
}

function Edited({ first, code }: { first: Answer<Reactor>; code: Answer<Formula> }) {
  const [{ line }] = useFilters();
  const mayEdit = useMay('reactor:update');
  const typed = useRef<Formula>(code.body);
  const [failure, setFailure] = useState<Error>();
  const { id } = first.body;
  const draft = useDraft<Reactor>(`/reactors/${id}`, first);
  const tried = () => ({
    reactor_id: id,
    reactor: {
      formula: {
        code: typed.current.code,
        runtime: typed.current.runtime,
        configuration: typed.current.configuration,
        request_parameters: typed.current.request_parameters,
      },
      ...(draft.now.application_id && { application: { id: draft.now.application_id } }),
    },
  });
  return (
    <>
      <Section
        title="Code"
        actions={
          <span className="quiet">
            of formula{' '}
            <Link to={`/formulas/${code.body.id}`}>
              <Text>{code.body.name}</Text>
            </Link>
            , which other reactors may share
          </span>
        }
      >
        <FormulaEditor
          first={code}
          line={line ? Number(line) : undefined}
          typed={(formula) => (typed.current = formula)}
          failure={failure}
        />
      </Section>
      {mayEdit && (
        <Section title="Dry run">
          <DryRunReactor body={tried} failed={setFailure} />
        </Section>
      )}
      <Section title="Settings">
        <div className="panel">
          <div className="fields">
            <TextField
              label="Name"
              value={draft.now.name}
              isReadOnly={!mayEdit}
              change={(name) => draft.change('name', name)}
            />
            <Choice
              label="Isolation"
              value={draft.now.isolation}
              isReadOnly={!mayEdit}
              choices={[
                ['warm', 'warm: a process serves several runs'],
                ['run', 'run: each run has a process of its own'],
              ]}
              change={(isolation) => draft.change('isolation', isolation)}
            />
            <ApplicationChoice
              value={draft.now.application_id}
              isReadOnly={!mayEdit}
              change={(application) => draft.change('application_id', application)}
            />
            <div className="field">
              <span>Id</span>
              <Id value={id} what="reactor id" />
            </div>
          </div>
        </div>
      </Section>
      <Section title="Configuration">
        <Configuration
          names={first.body.formula.configuration.map(({ name }) => name)}
          set={draft.base.configuration_set}
          typed={(draft.changes.configuration ?? {}) as Record<string, unknown>}
          change={(typed) => draft.change('configuration', typed)}
          isReadOnly={!mayEdit}
        />
      </Section>
      <ProblemBox error={draft.save.error} />
      <SaveBar draft={draft} what="reactor" mayEdit={mayEdit} />
    </>
  );
}
