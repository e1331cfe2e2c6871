import type { ContainerGrant, Transform } from '@glovebox/access';
import { isAllowedAt } from '../destinations';

/** True for a token `t` that has not expired. Every statement about tokens uses this predicate. */
export const isLive = '(t.expires_at IS NULL OR t.expires_at > now())';

/** What a grant gives of a token. `elsewhere`: nothing where the values are sent to. */
export type Given = Transform | 'elsewhere';

/**
 * True if the token `t` may go where its values are sent to: to a host that one of `goesTo` covers.
 * Null: they are sent nowhere.
 */
const mayGo = (goesTo: string): string => `(t.destinations IS NULL OR ${goesTo}::text[] IS NULL
      OR EXISTS (SELECT FROM unnest(t.destinations) AS d
        WHERE substring(d FROM '^(?:http://)?[^/]+') = ANY (${goesTo}::text[])))`;

/** Joins `t` with the deciding grant as `g`: the first that covers its container. */
export const decidingGrant = (
  containers: string,
  transforms: string,
  goesTo?: string,
): string => `LATERAL (
    SELECT ${goesTo ? `CASE WHEN ${mayGo(goesTo)} THEN transform ELSE 'elsewhere' END` : 'transform'} AS transform
    FROM unnest(${containers}::text[], ${transforms}::text[])
      WITH ORDINALITY AS grants (container, transform, rank)
    WHERE starts_with(t.container, grants.container) ORDER BY rank LIMIT 1
  ) g`;

/** The values for the first two parameters of `decidingGrant`. */
export const grantValues = (
  grants: readonly ContainerGrant[],
  goesTo: readonly string[] | null = null,
): [string[], Given[]] => [
  grants.map(({ container }) => container),
  grants.map(({ transform, destinations }) =>
    goesTo && destinations && !isAllowedAt(destinations, goesTo) ? 'elsewhere' : transform,
  ),
];

/** The columns of a `TokenRow` that are small. */
export const smallColumns = `id, tenant_id AS "tenantId", type, container, destinations, fingerprint,
  expires_at AS "expiresAt", created_by AS "createdBy", created_at AS "createdAt",
  modified_by AS "modifiedBy", modified_at AS "modifiedAt"`;

/** The columns of a `TokenRow`. */
export const rowColumns = `${smallColumns}, metadata`;
