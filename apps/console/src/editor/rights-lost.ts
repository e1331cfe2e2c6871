import type { Application, Rule } from '../api-types';

type Rights = Pick<Application, 'permissions' | 'rules'>;
type Shown = Rule['transform'] | 'nothing';

export interface Lost {
  container: string;
  permission: string;
  before: Shown;
  after: Shown;
}

/** What shows more comes first. */
const shows: readonly Shown[] = ['reveal', 'mask', 'redact', 'nothing'];

/**
 * What an application would see less of. It may differ only at the containers that a rule names:
 * below them all is as at them, until the next one that is named.
 */
export function rightsLost(before: Rights, after: Rights): Lost[] {
  const rules = [...before.rules, ...after.rules];
  const containers = new Set(['/', ...rules.map(({ container }) => container.toLowerCase())]);
  const permissions = new Set([
    ...before.permissions,
    ...before.rules.flatMap(({ permissions }) => permissions),
  ]);
  return [...permissions].flatMap((permission) => {
    const lost = [...containers]
      .sort()
      .map((container) => ({
        container,
        permission,
        before: shownBy(before, permission, container),
        after: shownBy(after, permission, container),
      }))
      .filter((one) => shows.indexOf(one.after) > shows.indexOf(one.before));
    const everywhere = lost.find(({ container }) => container === '/');
    const isOfEverywhere = ({ before, after }: Lost) =>
      before === everywhere?.before && after === everywhere.after;
    return lost.filter((one) => one === everywhere || !isOfEverywhere(one));
  });
}

/** As the API decides: rules that list the permission, by priority and then by length, then it alone. */
function shownBy({ rules, permissions }: Rights, permission: string, container: string): Shown {
  const rule = inOrder(rules)
    .filter((rule) => rule.permissions.includes(permission))
    .find((rule) => container.startsWith(rule.container.toLowerCase()));
  if (rule) return rule.transform;
  if (!permissions.includes(permission)) return 'nothing';
  return permission === 'token:use' ? 'reveal' : 'mask';
}

/** In the order in which they decide. */
export const inOrder = (rules: readonly Rule[]): Rule[] =>
  [...rules].sort(
    (one, other) => one.priority - other.priority || other.container.length - one.container.length,
  );
