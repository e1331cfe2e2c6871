import { useQuery } from '@tanstack/react-query';
import { get } from '../api';
import type { Application, Rule } from '../api-types';
import { Tick } from '../parts/fields';
import { Section } from '../parts/screen';
import { Table, type Column } from '../parts/table';
import { Text } from '../parts/text';
import type { Edited } from './draft';
import { faultAt } from './faults';
import { inOrder, type Lost } from './rights-lost';

interface Permission {
  type: string;
  description: string;
  application_types: Application['type'][];
}

interface Shown {
  edited: Edited<Application>;
  isReadOnly: boolean;
}

/** In the order in which they decide: the first rule that covers a token, then the permissions. */
export function Rights(shown: Shown) {
  const { type } = shown.edited.now;
  const known = useQuery({
    queryKey: ['permissions'],
    queryFn: ({ signal }) => get<Permission[]>('/permissions', signal),
    staleTime: Infinity,
    enabled: !shown.isReadOnly,
  });
  const held = (known.data ?? []).filter(({ application_types }) =>
    application_types.includes(type),
  );
  return (
    <Section title="Permissions and rules">
      <Rules {...shown} held={held} />
      <Permissions {...shown} held={held} />
    </Section>
  );
}

/** What it may do where no rule decides. */
function Permissions({
  edited: { now, change, error },
  isReadOnly,
  held,
}: Shown & { held: readonly Permission[] }) {
  const { permissions } = now;
  if (isReadOnly) {
    return (
      <p className="more">
        <span>
          <strong>For all containers:</strong>{' '}
          {permissions.length === 0 ? 'nothing' : permissions.join(', ')}
        </span>
      </p>
    );
  }
  const fault = faultAt(error, 'permissions');
  return (
    <fieldset className="panel below">
      <legend className="unseen">Permissions for all containers</legend>
      <strong aria-hidden="true">For all containers</strong>
      <div className="fields">
        {held.map(({ type, description }) => (
          <Tick
            key={type}
            label={
              <>
                <code>{type}</code> <span className="quiet">{description}</span>
              </>
            }
            value={permissions.includes(type)}
            change={(is) => change('permissions', withOrWithout(permissions, type, is))}
          />
        ))}
      </div>
      {fault !== undefined && <span className="bad fault">{fault}</span>}
    </fieldset>
  );
}

const withOrWithout = (list: readonly string[], one: string, is: boolean) =>
  is ? [...list, one] : list.filter((other) => other !== one);

interface Row {
  rule: Rule;
  /** Its place in the list that is sent: faults are told by it. */
  at: number;
}

function Rules({
  edited: { now, change, error },
  isReadOnly,
  held,
}: Shown & { held: readonly Permission[] }) {
  const { rules } = now;
  const rows = inOrder(rules).map((rule) => ({ rule, at: rules.indexOf(rule) }));
  const replace = (at: number, changed: (rule: Rule) => Rule) =>
    change(
      'rules',
      rules.map((rule, place) => (place === at ? changed(rule) : rule)),
    );
  const set = (at: number, part: Partial<Rule>) => replace(at, (rule) => ({ ...rule, ...part }));
  const add = () => {
    const [first = { type: 'token:read' }] = held.filter(({ type }) => type === 'token:read');
    const priority = Math.max(0, ...rules.map(({ priority }) => priority)) + 1;
    const rule = { description: '', priority, container: '/', transform: 'mask' as const };
    change('rules', [...rules, { ...rule, permissions: [first.type] }]);
  };
  /** Changes places with its neighbour; those that share a priority get one each. */
  const move = (from: number, to: number) => {
    const next = rows.map(({ rule }) => rule);
    next.splice(to, 0, ...next.splice(from, 1));
    change('rules', withPriorities(next));
  };
  return (
    <>
      <Table<Row>
        caption="The first rule that covers a token decides; permissions decide where none does."
        columns={
          isReadOnly
            ? columnsToRead
            : columnsToEdit({
                rows,
                set,
                replace,
                held,
                faultOf: (at) => faultsOfRule(error, at),
                move,
                remove: (at) =>
                  change(
                    'rules',
                    rules.filter((_, place) => place !== at),
                  ),
              })
        }
        rows={rows}
        keyOf={({ at }) => String(at)}
        empty="There are no rules: the permissions alone decide."
      />
      {!isReadOnly && (
        <div className="row below">
          <button type="button" onClick={add}>
            Add a rule
          </button>
        </div>
      )}
    </>
  );
}

/** The priorities that there are, in the new order; and higher ones where two were the same. */
function withPriorities(rules: readonly Rule[]): Rule[] {
  const sorted = rules.map(({ priority }) => priority).sort((one, other) => one - other);
  let last = 0;
  return rules.map((rule, at) => {
    last = Math.max(last + 1, sorted[at] ?? 1);
    return { ...rule, priority: last };
  });
}

const ruleMembers = [
  'priority',
  'container',
  'transform',
  'permissions',
  'destinations',
  'description',
];

const faultsOfRule = (error: Error | null, at: number): string | undefined =>
  faultAt(error, `rules.${at}`, ...ruleMembers.map((member) => `rules.${at}.${member}`));

const columnsToRead: Column<Row>[] = [
  { head: 'Priority', cell: ({ rule }) => rule.priority, isNumber: true },
  {
    head: 'Container',
    cell: ({ rule }) => (
      <code>
        <Text>{rule.container}</Text>
      </code>
    ),
  },
  { head: 'Shows', cell: ({ rule }) => rule.transform },
  { head: 'For', cell: ({ rule }) => rule.permissions.join(', ') },
  {
    head: 'May go to',
    cell: ({ rule }) => <Text>{rule.destinations?.join(', ') ?? 'anywhere'}</Text>,
  },
  { head: 'Description', cell: ({ rule }) => <Text>{rule.description}</Text> },
];

const columnsToEdit = ({
  rows,
  set,
  replace,
  held,
  faultOf,
  move,
  remove,
}: {
  rows: readonly Row[];
  set: (at: number, part: Partial<Rule>) => void;
  replace: (at: number, changed: (rule: Rule) => Rule) => void;
  held: readonly Permission[];
  faultOf: (at: number) => string | undefined;
  move: (from: number, to: number) => void;
  remove: (at: number) => void;
}): Column<Row>[] => {
  const nth = (row: Row) => rows.indexOf(row) + 1;
  return [
    {
      head: 'Priority',
      cell: (row) => (
        // Taken when it is left: the row moves to its new place.
        <input
          key={row.rule.priority}
          type="number"
          className="short"
          min={1}
          aria-label={`Priority of rule ${nth(row)}`}
          defaultValue={row.rule.priority}
          onBlur={({ target }) => set(row.at, { priority: Number(target.value) })}
        />
      ),
    },
    {
      head: 'Container',
      cell: (row) => (
        <>
          <input
            aria-label={`Container of rule ${nth(row)}`}
            aria-invalid={faultOf(row.at) === undefined ? undefined : true}
            value={row.rule.container}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => set(row.at, { container: target.value })}
          />
          {faultOf(row.at) && <span className="bad fault">{faultOf(row.at)}</span>}
        </>
      ),
    },
    {
      head: 'Shows',
      cell: (row) => (
        <select
          aria-label={`What rule ${nth(row)} shows`}
          value={row.rule.transform}
          onChange={({ target }) => set(row.at, { transform: target.value as Rule['transform'] })}
        >
          {['reveal', 'mask', 'redact'].map((transform) => (
            <option key={transform}>{transform}</option>
          ))}
        </select>
      ),
    },
    {
      head: 'For',
      cell: (row) => (
        <fieldset>
          <legend className="unseen">Permissions of rule {nth(row)}</legend>
          {held.map(({ type }) => (
            <Tick
              key={type}
              label={type}
              value={row.rule.permissions.includes(type)}
              change={(is) =>
                set(row.at, { permissions: withOrWithout(row.rule.permissions, type, is) })
              }
            />
          ))}
        </fieldset>
      ),
    },
    {
      head: 'May go to',
      cell: (row) => (
        // Taken when it is left: a list in the middle of its writing is none.
        <input
          key={row.rule.destinations?.join(' ')}
          aria-label={`Destinations of rule ${nth(row)}`}
          placeholder="anywhere"
          defaultValue={row.rule.destinations?.join(' ')}
          autoComplete="off"
          spellCheck={false}
          onBlur={({ target }) => replace(row.at, (rule) => goingTo(rule, target.value))}
        />
      ),
    },
    {
      head: 'Description',
      cell: (row) => (
        <input
          aria-label={`Description of rule ${nth(row)}`}
          value={row.rule.description}
          autoComplete="off"
          onChange={({ target }) => set(row.at, { description: target.value })}
        />
      ),
    },
    {
      head: 'Order',
      cell: (row) => {
        const at = rows.indexOf(row);
        return (
          <div className="row tight">
            <button type="button" disabled={at === 0} onClick={() => move(at, at - 1)}>
              <span aria-hidden="true">↑</span>
              <span className="unseen">Move rule {at + 1} up</span>
            </button>
            <button
              type="button"
              disabled={at === rows.length - 1}
              onClick={() => move(at, at + 1)}
            >
              <span aria-hidden="true">↓</span>
              <span className="unseen">Move rule {at + 1} down</span>
            </button>
            <button type="button" onClick={() => remove(row.at)}>
              Remove<span className="unseen"> rule {at + 1}</span>
            </button>
          </div>
        );
      },
    },
  ];
};

/** Undefined: there is none, and the values may go anywhere. */
/** Without a name it may go anywhere. */
function goingTo({ destinations: _, ...rule }: Rule, text: string): Rule {
  const destinations = text.split(/[\s,]+/).filter((one) => one !== '');
  return destinations.length === 0 ? rule : { ...rule, destinations };
}

/** What calls of the application would be refused, or see less of. */
export function LostRights({ lost }: { lost: readonly Lost[] }) {
  return (
    <>
      <strong>This takes rights away.</strong>
      <ul>
        {lost.map(({ container, permission, before, after }) => (
          <li key={`${permission} ${container}`}>
            <code>{permission}</code> {container === '/' ? 'everywhere' : 'in '}
            {container !== '/' && (
              <code>
                <Text>{container}</Text>
              </code>
            )}
            {': '}
            {after === 'nothing' ? 'refused from now on' : `${before} becomes ${after}`}
          </li>
        ))}
      </ul>
    </>
  );
}
