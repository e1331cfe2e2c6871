import { Link } from '@tanstack/react-router';
import type { Application, Formula, ProxyResource, Reactor } from '../api-types';
import { Status, Time } from '../parts/facts';
import { useFilters, Filters, type Filter } from '../parts/filters';
import { entriesOf, More, useList } from '../parts/list';
import { Screen } from '../parts/screen';
import { Loaded } from '../parts/states';
import { Table, type Column } from '../parts/table';
import { Text } from '../parts/text';
import { useMay } from '../session';

const byName: Filter = { name: 'name', label: 'Name (* stands for any text)', kind: 'text' };
const byType: Filter = {
  name: 'type',
  label: 'Type',
  kind: 'choice',
  choices: ['private', 'public', 'management'],
};

export const ReactorsScreen = () => (
  <Definitions<Reactor>
    title="Reactors"
    about="A reactor is a formula, which is the code, with its configuration."
    path="/reactors"
    what="reactor"
    permission="reactor:create"
    filters={[byName]}
    columns={[
      {
        head: 'Formula',
        cell: ({ formula }) => (
          <Link to={`/formulas/${formula.id}`}>
            <Text>{formula.name}</Text>
          </Link>
        ),
      },
      { head: 'Runtime', cell: ({ formula }) => formula.runtime },
    ]}
  />
);

export const FormulasScreen = () => (
  <Definitions<Formula>
    title="Formulas"
    about="A formula is code, which any number of reactors run."
    path="/formulas"
    resources="/reactor-formulas"
    what="formula"
    permission="reactor:create"
    filters={[byName]}
    columns={[
      {
        head: 'Description',
        cell: ({ description }) =>
          description ? <Text>{description}</Text> : <span className="quiet">–</span>,
      },
      { head: 'Runtime', cell: ({ runtime }) => runtime },
    ]}
  />
);

export const ProxiesScreen = () => (
  <Definitions<ProxyResource>
    title="Proxies"
    about="A proxy is a stored destination, with what changes on the way."
    path="/proxies"
    what="proxy"
    many="proxies"
    permission="proxy:create"
    filters={[byName]}
    columns={[
      {
        head: 'Destination',
        isWide: true,
        cell: ({ destination_url }) => (
          <code>
            <Text>{destination_url}</Text>
          </code>
        ),
      },
      {
        head: 'Changes',
        cell: (proxy) => changesOf(proxy) || <span className="quiet">nothing</span>,
      },
      { head: 'Needs a key', cell: ({ require_auth }) => (require_auth ? 'yes' : 'no') },
    ]}
  />
);

export const ApplicationsScreen = () => (
  <Definitions<Application>
    title="Applications"
    about="An application calls the API. It has keys, permissions and rules."
    path="/applications"
    what="application"
    permission="application:create"
    filters={[byName, byType]}
    columns={[
      { head: 'Type', cell: ({ type }) => type },
      {
        head: 'May',
        isWide: true,
        cell: ({ permissions, rules }) =>
          [...new Set([...permissions, ...rules.flatMap(({ permissions }) => permissions)])].join(
            ', ',
          ),
      },
      {
        head: 'Expires',
        cell: ({ expires_at }) =>
          expires_at === undefined ? (
            <span className="quiet">never</span>
          ) : Date.parse(expires_at) < Date.now() ? (
            <Status of="expired" />
          ) : (
            <Time at={expires_at} />
          ),
      },
    ]}
  />
);

interface Defined {
  id: string;
  name: string;
  created_at: string;
  modified_at?: string;
}

interface Shown<Resource> {
  title: string;
  about: string;
  /** Of the screen; and of the API, if it is another one. */
  path: string;
  resources?: string;
  what: string;
  many?: string;
  /** To make one. */
  permission: string;
  filters: readonly Filter[];
  columns: Column<Resource>[];
}

function Definitions<Resource extends Defined>(shown: Shown<Resource>) {
  const { title, about, path, resources = path, what, many, permission, filters, columns } = shown;
  const mayCreate = useMay(permission);
  const [search] = useFilters();
  const chosen = Object.fromEntries(filters.map(({ name }) => [name, search[name]]));
  const isFiltered = Object.values(chosen).some(Boolean);
  const list = useList<Resource>(resources, chosen);
  return (
    <Screen
      title={title}
      about={about}
      actions={
        mayCreate && (
          <Link className="button primary" to={`${path}/new`}>
            New {what}
          </Link>
        )
      }
    >
      <Filters filters={filters} />
      <Loaded query={list} rows={12}>
        {(data) => (
          <Table<Resource>
            caption={title}
            isCaptionHidden
            columns={[
              {
                head: 'Name',
                cell: ({ id, name }) => (
                  <Link to={`${path}/${id}`}>
                    <Text>{name}</Text>
                  </Link>
                ),
              },
              ...columns,
              {
                head: 'Changed',
                cell: ({ modified_at, created_at }) => <Time at={modified_at ?? created_at} />,
              },
            ]}
            rows={entriesOf(data)}
            keyOf={({ id }) => id}
            empty={isFiltered ? `No ${what} matches.` : `There is no ${what} yet.`}
          />
        )}
      </Loaded>
      <More list={list} what={what} {...(many ? { many } : {})} />
    </Screen>
  );
}

function changesOf(proxy: ProxyResource): string {
  const changes: [unknown, string][] = [
    [proxy.request_transform, 'request by code'],
    [proxy.response_transform, 'answer by code'],
    [proxy.request_transforms?.length, 'request by steps'],
    [proxy.response_transforms?.length, 'answer by steps'],
  ];
  return changes
    .filter(([is]) => is)
    .map(([, name]) => name)
    .join(', ');
}
