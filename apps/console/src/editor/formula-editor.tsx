import { useEffect, useMemo, type ReactNode } from 'react';
import { Refused, type Answer } from '../api';
import type { Formula, Runtime } from '../api-types';
import { Choice, TextField } from '../parts/fields';
import { Section } from '../parts/screen';
import { ProblemBox } from '../parts/states';
import { UploadedCode } from '../parts/uploaded-code';
import { useMay } from '../session';
import { CodeEditor } from './code';
import { namesOfReactor } from './complete-names';
import { DeclaredNames } from './declared-names';
import { useDraft, type Edited } from './draft';
import { faultAt, faultsOf } from './faults';
import { SaveBar } from './save-bar';

export const runtimes: readonly (readonly [Runtime, string])[] = [
  ['node24', 'Node.js 24'],
  ['node22', 'Node.js 22'],
  ['node20', 'Node.js 20'],
  ['node16', 'Node.js 16'],
];

export const emptyFormula = {
  type: 'private',
  name: '',
  code: `module.exports = async function ({ args, configuration, svc }) {
  return { raw: {} };
};
`,
  runtime: 'node24',
  configuration: [],
  request_parameters: [],
} as unknown as Formula;

/** The code of a formula. Who shows it is told what is typed, to try it out. */
export function FormulaEditor({
  first,
  line,
  typed,
  failure,
  isWhole,
  about,
}: {
  first: Answer<Formula>;
  line?: number | undefined;
  typed: (formula: Formula) => void;
  /** Of a dry run: its place is marked. */
  failure?: Error | undefined;
  /** With all that a formula has beside its code. */
  isWhole?: boolean;
  about?: ReactNode;
}) {
  const draft = useDraft<Formula>(`/reactor-formulas/${first.body.id}`, first);
  const mayEdit = useMay('reactor:update');
  const { now, save } = draft;
  useEffect(() => {
    typed(now);
  }, [now.code, now.runtime, now.configuration, now.request_parameters]);
  return (
    <>
      <Section title="Code" actions={about}>
        <FormulaCode edited={draft} failure={failure} line={line} isReadOnly={!mayEdit} />
      </Section>
      {isWhole && <FormulaMembers edited={draft} isReadOnly={!mayEdit} />}
      <ProblemBox error={save.error} />
      <SaveBar draft={draft} what="formula" mayEdit={mayEdit} />
    </>
  );
}

interface Shown {
  edited: Edited<Formula>;
  isReadOnly: boolean;
}

export function FormulaCode({
  edited: { now, change, error },
  failure,
  line,
  isReadOnly,
}: Shown & { failure?: Error | undefined; line?: number | undefined }) {
  const why = error ?? failure;
  const faults = useMemo(() => (why instanceof Refused ? faultsOf(why.problem) : []), [why]);
  const names = useMemo(
    () =>
      namesOfReactor(
        now.request_parameters,
        now.configuration.map(({ name }) => name),
      ),
    [now.request_parameters, now.configuration],
  );
  return (
    <>
      <div className="row">
        <Choice
          label="Runtime"
          value={now.runtime}
          choices={runtimes}
          isReadOnly={isReadOnly}
          change={(runtime) => change('runtime', runtime)}
          fault={faultAt(error, 'runtime')}
          hint={now.runtime_end_of_life && `Its support ended on ${now.runtime_end_of_life}.`}
        />
      </div>
      {now.code === undefined ? (
        <UploadedCode sha256={now.code_sha256} />
      ) : (
        <CodeEditor
          label="Code"
          value={now.code}
          change={(code) => change('code', code)}
          faults={faults}
          names={names}
          isReadOnly={isReadOnly}
          line={line}
        />
      )}
      {faultAt(error, 'code') && <p className="bad fault">{faultAt(error, 'code')}</p>}
    </>
  );
}

export function FormulaMembers({ edited: { now, change, error }, isReadOnly }: Shown) {
  const declared = (member: 'request_parameters' | 'configuration') => ({
    value: now[member],
    change: (names: Formula[typeof member]) => change(member, names),
    faultAt: (at: number) => faultAt(error, `${member}.${at}.name`),
    isReadOnly,
  });
  return (
    <>
      <Section title="Settings">
        <div className="panel">
          <div className="fields">
            <TextField
              label="Name"
              value={now.name}
              isReadOnly={isReadOnly}
              change={(name) => change('name', name)}
              fault={faultAt(error, 'name')}
            />
            <TextField
              label="Description"
              value={now.description ?? ''}
              isReadOnly={isReadOnly}
              change={(text) => change('description', text || null)}
              fault={faultAt(error, 'description')}
            />
          </div>
        </div>
      </Section>
      <Section title="Parameters">
        <DeclaredNames
          caption="What calls pass as args"
          empty="None is declared: the code takes any arguments."
          what="parameter"
          types={['string', 'number', 'boolean', 'object']}
          hasFlags
          {...declared('request_parameters')}
        />
      </Section>
      <Section title="Configuration">
        <DeclaredNames
          caption="Values that each reactor sets"
          empty="None is declared: reactors of this formula have no configuration."
          what="value"
          types={['string', 'number', 'boolean']}
          {...declared('configuration')}
        />
      </Section>
    </>
  );
}
