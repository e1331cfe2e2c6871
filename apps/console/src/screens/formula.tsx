import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { Answer } from '../api';
import type { Formula } from '../api-types';
import { DryRunReactor } from '../editor/dry-run-reactor';
import { EditedScreen } from '../editor/edited-screen';
import { FormulaEditor } from '../editor/formula-editor';
import { Section } from '../parts/screen';
import { useMay } from '../session';

export function FormulaScreen() {
  const mayCreate = useMay('reactor:create');
  return (
    <EditedScreen<Formula>
      title="Formula"
      path="/reactor-formulas"
      list="/formulas"
      removal={{
        permission: 'reactor:delete',
        warning: 'Its code is gone. The API refuses it while a reactor uses it.',
      }}
      more={(id) =>
        mayCreate && (
          <Link className="button" to="/reactors/new" search={{ formula: id }}>
            New reactor of it
          </Link>
        )
      }
    >
      {(first) => <EditedFormula key={first.body.id} first={first} />}
    </EditedScreen>
  );
}

function EditedFormula({ first }: { first: Answer<Formula> }) {
  const mayEdit = useMay('reactor:update');
  const typed = useRef<Formula>(first.body);
  const [failure, setFailure] = useState<Error>();
  const tried = () => {
    const { code, runtime, request_parameters } = typed.current;
    return { reactor: { formula: { code, runtime, request_parameters } } };
  };
  return (
    <>
      <FormulaEditor
        first={first}
        typed={(formula) => (typed.current = formula)}
        failure={failure}
        isWhole
      />
      {mayEdit && (
        <Section title="Dry run">
          <DryRunReactor body={tried} failed={setFailure} hasNoConfiguration />
        </Section>
      )}
    </>
  );
}
