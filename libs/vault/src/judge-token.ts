import {
  grantsFor,
  ruleFor,
  type AccessRule,
  type Actor,
  type Permission,
  type Principal,
  type Transform,
} from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import type { LargeOpenings } from './openings/large-openings';
import { nothingToGive, outOfBounds } from './refusals';
import { showingGrants, shownIn, showTokens } from './sights/shown-tokens';
import { decidingGrant, grantValues, isLive } from './statements/live-tokens';
import type { TokenView } from './token';

/** The permissions that are decided for each token, by its container. */
export const judgedPermissions = [
  'token:read',
  'token:search',
  'token:use',
  'token:update',
  'token:delete',
] as const satisfies readonly Permission[];

/** What an application may do with a token, and why. */
export interface TokenVerdict {
  readonly isAllowed: boolean;
  readonly container: string;
  /** Null: no grant covers the token. */
  readonly transform: Transform | null;
  /** Undefined: the plain permission decides, or nothing does. */
  readonly rule: AccessRule | undefined;
  readonly reason: string;
  /** The token as the application would see it, though never its data in the clear. */
  readonly shown?: TokenView;
}

/**
 * Judges as the statements do that read tokens, and records nothing, since no data is opened. Who
 * asks sees no more of the token than its own grants show.
 */
export async function judgeToken(
  sql: Sql,
  sealer: Sealer,
  asking: Actor,
  asked: {
    readonly application: Principal;
    readonly permission: Permission;
    readonly tokenId: string;
  },
  largeOpenings: LargeOpenings,
): Promise<TokenVerdict> {
  const { application, permission } = asked;
  if (!isTokenId(asked.tokenId)) throw new Problem('unknown_token');
  const tokenId = normalTokenId(asked.tokenId);
  const { container, transform, hasMask } = await readVerdict(sql, {
    application,
    permission,
    tokenId,
  });
  const rule = ruleFor(application, permission, container);
  const refusal = refusalOf(permission, container, transform, hasMask);
  const verdict = {
    isAllowed: refusal === undefined,
    container,
    transform,
    rule,
    reason: refusal?.detail ?? reasonOf(permission, transform, rule),
  };
  const seen = transform && leastOf(transform, shownIn(asking.principal, 'token:read', container));
  if (!seen) return verdict;
  const viewer = { ...asking, principal: seeing(asking.principal, application, seen) };
  const look = {
    permission: 'token:read',
    operation: 'token.judge',
    entityType: 'token',
    entityId: tokenId,
  } as const;
  const [shown] = await showTokens(sql, sealer, viewer, look, [tokenId], largeOpenings);
  return shown ? { ...verdict, shown } : verdict;
}

interface VerdictRow {
  readonly container: string;
  readonly transform: Transform | null;
  readonly hasMask: boolean;
}

async function readVerdict(
  sql: Sql,
  { application, permission, tokenId }: Parameters<typeof judgeToken>[3],
): Promise<VerdictRow> {
  const grants =
    permission === 'token:use'
      ? grantsFor(application, permission)
      : showingGrants(application, permission);
  const [found] = await sql.query<VerdictRow>(
    `SELECT t.container, g.transform, t.mask IS NOT NULL AS "hasMask"
     FROM tokens t LEFT JOIN ${decidingGrant('$3', '$4')} ON true
     WHERE t.tenant_id = $1 AND t.id = $2 AND ${isLive}`,
    [application.tenantId, tokenId, ...grantValues(grants)],
  );
  if (!found) throw new Problem('unknown_token');
  return found;
}

/** A use needs a value. To see a token, its grant is enough. */
function refusalOf(
  permission: Permission,
  container: string,
  transform: Transform | null,
  hasMask: boolean,
): Problem | undefined {
  if (transform === null) return outOfBounds(permission, [container]);
  if (permission !== 'token:use' || transform === 'reveal') return undefined;
  return transform === 'mask' && hasMask ? undefined : nothingToGive(permission, transform);
}

const gives = { reveal: 'the data', mask: 'the mask', redact: 'nothing of the data' } as const;

function reasonOf(
  permission: Permission,
  transform: Transform | null,
  rule: AccessRule | undefined,
): string {
  const given = transform === null ? 'nothing' : gives[transform];
  if (rule === undefined) return `The permission ${permission} gives ${given}.`;
  const { priority, container } = rule;
  return `A rule for ${container} of priority ${priority} gives ${given}.`;
}

/** A mask at most. */
function leastOf(one: Transform, other: Transform | undefined): Transform | undefined {
  if (other === undefined) return undefined;
  return one === 'redact' || other === 'redact' ? 'redact' : 'mask';
}

/** Sees what the application would see, on behalf of who asks. */
const seeing = (asking: Principal, application: Principal, transform: Transform): Principal => ({
  ...asking,
  type: application.type,
  permissions: [],
  rules: [{ description: '', priority: 1, container: '/', transform, permissions: ['token:read'] }],
});
