import { useNavigate } from '@tanstack/react-router';
import type { Formula } from '../api-types';
import { CreatingScreen } from '../editor/creating-screen';
import { useCreation } from '../editor/draft';
import { emptyFormula, FormulaCode, FormulaMembers } from '../editor/formula-editor';
import { CreateBar } from '../editor/save-bar';
import { Section } from '../parts/screen';

export const NewFormulaScreen = () => (
  <CreatingScreen
    title="New formula"
    about="Code that reactors run, with the names of what they give it."
    permission="reactor:create"
  >
    <NewFormula />
  </CreatingScreen>
);

function NewFormula() {
  const navigate = useNavigate();
  const creation = useCreation<Formula>(
    '/reactor-formulas',
    emptyFormula,
    ({ id }) => void navigate({ to: `/formulas/${id}`, ignoreBlocker: true }),
  );
  return (
    <>
      <Section title="Code">
        <FormulaCode edited={creation} isReadOnly={false} />
      </Section>
      <FormulaMembers edited={creation} isReadOnly={false} />
      <CreateBar make={creation.make} what="formula" />
    </>
  );
}
