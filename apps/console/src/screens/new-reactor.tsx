import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { get } from '../api';
import type { Formula, Page, Reactor } from '../api-types';
import { CreatingScreen } from '../editor/creating-screen';
import { useCreation, useVersion } from '../editor/draft';
import { faultAt } from '../editor/faults';
import { ReactorSettings, ReactorValues } from '../editor/reactor-form';
import { CreateBar } from '../editor/save-bar';
import { cutMiddle } from '../format';
import { Choice } from '../parts/fields';
import { useFilters } from '../parts/filters';
import { Loaded } from '../parts/states';

export const NewReactorScreen = () => (
  <CreatingScreen
    title="New reactor"
    about="A formula, which is the code, with the configuration that it runs with."
    permission="reactor:create"
  >
    <WithFormulas />
  </CreatingScreen>
);

/** As many as a page of the API holds. */
const choicesMax = 100;

function WithFormulas() {
  const formulas = useQuery({
    queryKey: ['formulas', 'to choose from'],
    queryFn: ({ signal }) =>
      get<Page<Formula>>(`/reactor-formulas?size=${choicesMax}`, signal).then(({ data }) => data),
  });
  return (
    <Loaded query={formulas} rows={8}>
      {(formulas) =>
        formulas.length === 0 ? (
          <p className="empty">
            A reactor needs a formula, and there is none yet.{' '}
            <Link to="/formulas/new">Write the first one</Link>
          </p>
        ) : (
          <NewReactor formulas={formulas} />
        )
      }
    </Loaded>
  );
}

function NewReactor({ formulas }: { formulas: readonly Formula[] }) {
  const [{ formula: wanted = '' }] = useFilters();
  const navigate = useNavigate();
  const empty = { name: '', formula: { id: wanted }, configuration: {}, isolation: 'warm' };
  const creation = useCreation<Reactor>(
    '/reactors',
    empty as unknown as Reactor,
    ({ id }) => void navigate({ to: `/reactors/${id}`, ignoreBlocker: true }),
  );
  const { now, change, error } = creation;
  const { id } = now.formula;
  const listed = formulas.find((formula) => formula.id === id);
  const unlisted = useVersion<Formula>(
    `/reactor-formulas/${encodeURIComponent(id)}`,
    id !== '' && listed === undefined,
  );
  const chosen = listed ?? unlisted.data?.body;
  const names = [...formulas, ...(listed || !chosen ? [] : [chosen])];
  return (
    <>
      <ReactorSettings edited={creation} isReadOnly={false}>
        <Choice
          label="Formula"
          value={id}
          choices={[
            ['', 'choose one'],
            ...names.map(({ id, name }) => [id, `${name} (${cutMiddle(id)})`] as const),
          ]}
          change={(next) => {
            change('formula', { id: next });
            change('configuration', undefined);
          }}
          fault={faultAt(error, 'formula', 'formula.id')}
          hint={
            <>
              Its code. <Link to="/formulas/new">Write a new one</Link>
            </>
          }
        />
      </ReactorSettings>
      <ReactorValues
        edited={creation}
        declared={chosen?.configuration ?? []}
        set={[]}
        isReadOnly={false}
      />
      <CreateBar make={creation.make} what="reactor" />
    </>
  );
}
