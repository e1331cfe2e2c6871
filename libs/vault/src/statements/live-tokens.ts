import type { ContainerGrant } from '@glovebox/access';

/** True for a token `t` that has not expired. Every statement about tokens uses this predicate. */
export const isLive = '(t.expires_at IS NULL OR t.expires_at > now())';

/** Joins `t` with the deciding grant as `g`: the first that covers its container. */
export const decidingGrant = (containers: string, transforms: string): string => `LATERAL (
    SELECT transform
    FROM unnest(${containers}::text[], ${transforms}::text[])
      WITH ORDINALITY AS grants (container, transform, rank)
    WHERE starts_with(t.container, grants.container) ORDER BY rank LIMIT 1
  ) g`;

/** The values for the two parameters of `decidingGrant`. */
export const grantValues = (grants: readonly ContainerGrant[]): [string[], string[]] => [
  grants.map(({ container }) => container),
  grants.map(({ transform }) => transform),
];

/** The columns of a `TokenRow` that are small. */
export const smallColumns = `id, tenant_id AS "tenantId", type, container, fingerprint,
  expires_at AS "expiresAt", created_by AS "createdBy", created_at AS "createdAt",
  modified_by AS "modifiedBy", modified_at AS "modifiedAt"`;

/** The columns of a `TokenRow`. */
export const rowColumns = `${smallColumns}, metadata`;
