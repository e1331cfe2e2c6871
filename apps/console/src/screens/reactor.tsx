import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { Answer } from '../api';
import type { Formula, Reactor } from '../api-types';
import { useDraft, useVersion } from '../editor/draft';
import { DryRunReactor } from '../editor/dry-run-reactor';
import { EditedScreen } from '../editor/edited-screen';
import { FormulaEditor } from '../editor/formula-editor';
import { ReactorSettings, ReactorValues } from '../editor/reactor-form';
import { SaveBar } from '../editor/save-bar';
import { useFilters } from '../parts/filters';
import { Section } from '../parts/screen';
import { Loaded, ProblemBox } from '../parts/states';
import { Text } from '../parts/text';
import { useMay } from '../session';

export const ReactorScreen = () => (
  <EditedScreen<Reactor>
    title="Reactor"
    path="/reactors"
    list="/reactors"
    filter="reactor_id"
    hasRuns
    removal={{
      permission: 'reactor:delete',
      warning: 'Calls of it fail at once. Its formula, and the log of its runs, stay.',
    }}
  >
    {(first) => <WithFormula key={first.body.id} first={first} />}
  </EditedScreen>
);

function WithFormula({ first }: { first: Answer<Reactor> }) {
  const formula = useVersion<Formula>(`/reactor-formulas/${first.body.formula.id}`);
  return (
    <Loaded query={formula} rows={16}>
      {(code) => <EditedReactor first={first} code={code} />}
    </Loaded>
  );
}

function EditedReactor({ first, code }: { first: Answer<Reactor>; code: Answer<Formula> }) {
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
      <FormulaEditor
        first={code}
        line={line ? Number(line) : undefined}
        typed={(formula) => (typed.current = formula)}
        failure={failure}
        about={
          <span className="quiet">
            of formula{' '}
            <Link to={`/formulas/${code.body.id}`}>
              <Text>{code.body.name}</Text>
            </Link>
            , which other reactors may share
          </span>
        }
      />
      {mayEdit && (
        <Section title="Dry run">
          <DryRunReactor body={tried} failed={setFailure} />
        </Section>
      )}
      <ReactorSettings edited={draft} id={id} isReadOnly={!mayEdit} />
      <ReactorValues
        edited={draft}
        declared={code.body.configuration}
        set={draft.base.configuration_set}
        isReadOnly={!mayEdit}
      />
      <ProblemBox error={draft.save.error} />
      <SaveBar draft={draft} what="reactor" mayEdit={mayEdit} />
    </>
  );
}
