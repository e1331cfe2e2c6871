import { useEffect, useMemo } from 'react';
import { Refused, type Answer } from '../api';
import type { Formula, Runtime } from '../api-types';
import { Choice } from '../parts/fields';
import { ProblemBox } from '../parts/states';
import { useMay } from '../session';
import { CodeEditor } from './code';
import { faultsOf } from './faults';
import { namesOfReactor } from './complete-names';
import { SaveBar, useDraft } from './draft';

export const runtimes: readonly (readonly [Runtime, string])[] = [
  ['node24', 'Node.js 24'],
  ['node22', 'Node.js 22'],
  ['node20', 'Node.js 20'],
  ['node16', 'Node.js 16'],
];

/** The code of a formula. Who shows it is told what is typed, to try it out. */
export function FormulaEditor({
  first,
  line,
  typed,
  failure,
}: {
  first: Answer<Formula>;
  line?: number | undefined;
  typed: (formula: Formula) => void;
  /** Of a dry run: its place is marked. */
  failure?: Error | undefined;
}) {
  const path = `/reactor-formulas/${first.body.id}`;
  const draft = useDraft<Formula>(path, first);
  const mayEdit = useMay('reactor:update');
  const { now, save } = draft;
  useEffect(() => {
    typed(now);
  }, [now.code, now.runtime]);
  const error = save.error ?? failure;
  const faults = useMemo(() => (error instanceof Refused ? faultsOf(error.problem) : []), [error]);
  const names = useMemo(
    () =>
      namesOfReactor(
        now.request_parameters,
        now.configuration.map(({ name }) => name),
      ),
    [now],
  );
  return (
    <>
      <div className="row">
        <Choice
          label="Runtime"
          value={now.runtime}
          choices={runtimes}
          isReadOnly={!mayEdit}
          change={(runtime) => draft.change('runtime', runtime)}
          hint={now.runtime_end_of_life && `Its support ended on ${now.runtime_end_of_life}.`}
        />
      </div>
      <CodeEditor
        label="Code"
        value={now.code}
        change={(code) => draft.change('code', code)}
        faults={faults}
        names={names}
        isReadOnly={!mayEdit}
        line={line}
      />
      <ProblemBox error={save.error} />
      <SaveBar draft={draft} what="formula" mayEdit={mayEdit} />
    </>
  );
}
