import { useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { Formula } from '../api-types';
import { useVersion } from '../editor/draft';
import { DryRunReactor } from '../editor/dry-run';
import { FormulaEditor } from '../editor/formula-editor';
import { Screen, Section } from '../parts/screen';
import { Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Text } from '../parts/text';
import { useMay } from '../session';

export function FormulaScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const formula = useVersion<Formula>(`/reactor-formulas/${encodeURIComponent(id)}`);
  const mayEdit = useMay('reactor:update');
  const typed = useRef<Formula>(undefined);
  const [failure, setFailure] = useState<Error>();
  const tried = () => {
    const { code, runtime, request_parameters } = typed.current ?? {};
    return { reactor: { formula: { code, runtime, request_parameters } } };
  };
  return (
    <Screen title="Formula" about={formula.data && <Text>{formula.data.body.name}</Text>}>
      <Loaded query={formula} rows={18}>
        {(first) => (
          <>
            <Section title="Code">
              <FormulaEditor
                first={first}
                typed={(formula) => (typed.current = formula)}
                failure={failure}
              />
            </Section>
            {mayEdit && (
              <Section title="Dry run">
                <DryRunReactor body={tried} failed={setFailure} />
              </Section>
            )}
            <Section title="Parameters">
              <Table
                caption="Parameters of the request"
                isCaptionHidden
                columns={[
                  {
                    head: 'Name',
                    cell: ({ name }) => (
                      <code>
                        <Text>{name}</Text>
                      </code>
                    ),
                  },
                  { head: 'Type', cell: ({ type }) => type },
                  { head: 'Optional', cell: ({ optional }) => (optional ? 'yes' : 'no') },
                  { head: 'Shown in logs', cell: ({ loggable }) => (loggable ? 'yes' : 'no') },
                ]}
                rows={first.body.request_parameters}
                keyOf={({ name }) => name}
                empty="None is declared: the code takes any arguments."
              />
            </Section>
          </>
        )}
      </Loaded>
    </Screen>
  );
}
