import type { Permission, Principal } from '@glovebox/access';
import { orAuditUnavailable, type PreparedStatement, type Sql } from '@glovebox/database';
import { Problem, type EndedWork } from '@glovebox/problems';
import { showingGrants, shownIn } from './shown-tokens';
import { parseSights, showsAsMuch, type Sight } from './sights';
import { decidingGrant, grantValues, isLive } from '../statements/live-tokens';
import type { Use } from '../statements/read-and-record';

/** An answer that was kept, without its body. */
interface KeptAnswer {
  /** Names it in the audit log. */
  readonly entityId: string;
  /** In their stored form. */
  readonly sights: unknown;
  /** Its body went with the data of a token. */
  readonly isErased: boolean;
}

/** Whether a kept answer may be shown now. */
type Verdict = 'shown' | 'refused' | 'gone';

/** The line of the audit log for each answer, and the applications as they are now. */
export interface Showing {
  readonly use: Omit<Use, 'entityId' | 'destinationHost'>;
  readonly principalOf: (applicationId: string) => Principal | undefined;
}

/**
 * Decides whether answers may be shown again, as if their data was used now by whoever saw it: all
 * of their tokens are there, and no grant shows less of them. Records each in the same statement.
 */
export async function decideShowing(
  sql: Sql,
  { use, principalOf }: Showing,
  answers: readonly KeptAnswer[],
): Promise<Verdict[]> {
  const asked = answers.map(({ entityId, isErased, ...answer }, at) => {
    const sights = parseSights(answer.sights);
    return {
      at,
      entity_id: entityId,
      is_gone: isErased || sights === null,
      is_refused: sights?.some((sight) => !isStillShown(sight, principalOf)) ?? false,
      sights: sightsOfTokens(sights ?? [], principalOf),
    };
  });
  const values = [
    use.tenantId,
    JSON.stringify(asked),
    use.actorId,
    use.operation,
    use.entityType,
    use.traceId,
  ];
  const rows = await orAuditUnavailable(sql.query<{ verdict: Verdict }>(showingStatement, values));
  return rows.map(({ verdict }) => verdict);
}

/** Throws unless the answer may be shown now. Gone data leaves how its work ended. */
export async function requireShown(
  sql: Sql,
  showing: Showing,
  answer: KeptAnswer,
  ended: EndedWork,
): Promise<void> {
  const [verdict] = await decideShowing(sql, showing, [answer]);
  if (verdict === 'gone') throw new Problem('data_gone', { ended });
  if (verdict === 'shown') return;
  throw new Problem('permission_denied', {
    detail: 'The answer shows more of a token than may be seen of it now.',
  });
}

/** Decides by the container, where a sight has no ids. A token may have moved since. */
function isStillShown(
  { applicationId, permission, container, transform, ids }: Sight,
  principalOf: Showing['principalOf'],
): boolean {
  if (ids) return true;
  const principal = principalOf(applicationId);
  return (
    principal !== undefined && showsAsMuch(shownIn(principal, permission, container), transform)
  );
}

interface SightOfTokens {
  readonly containers: readonly string[];
  readonly transforms: readonly string[];
  readonly transform: string;
  readonly ids: string[];
  readonly made_at: number[];
}

/** The tokens with the grants that decide on them, once for each application and permission. */
function sightsOfTokens(
  sights: readonly Sight[],
  principalOf: Showing['principalOf'],
): SightOfTokens[] {
  const byGrants = new Map<string, SightOfTokens>();
  for (const { applicationId, permission, transform, ids = [], madeAt = [] } of sights) {
    const name = [applicationId, permission, transform].join(' ');
    const [containers, transforms] = grantValues(grantsOf(principalOf(applicationId), permission));
    const known = byGrants.get(name) ?? { containers, transforms, transform, ids: [], made_at: [] };
    known.ids.push(...ids);
    known.made_at.push(...madeAt);
    byGrants.set(name, known);
  }
  return [...byGrants.values()];
}

const grantsOf = (principal: Principal | undefined, permission: Permission) =>
  principal ? showingGrants(principal, permission) : [];

const rankOf = (transform: string): string =>
  `array_position(ARRAY['redact', 'mask', 'reveal'], ${transform})`;

/** A token that was made at another time took the id of one that is gone. */
const showingStatement: PreparedStatement = {
  name: 'decide-showing',
  text: `
WITH asked AS MATERIALIZED (
  SELECT * FROM json_to_recordset($2::json) AS a (at integer, entity_id text,
    is_gone boolean, is_refused boolean, sights json)
), verdict AS MATERIALIZED (
  SELECT a.at, a.entity_id, coalesce(f.ids, '{}') AS ids,
    CASE WHEN a.is_gone OR f.is_gone THEN 'gone'
      WHEN a.is_refused OR f.is_refused THEN 'refused' ELSE 'shown' END AS verdict
  FROM asked a CROSS JOIN LATERAL (
    SELECT array_agg(t.id) FILTER (WHERE t.id IS NOT NULL) AS ids,
      bool_or(t.id IS NULL) AS is_gone,
      bool_or((${rankOf('g.transform')} >= ${rankOf('s.transform')}) IS NOT TRUE) AS is_refused
    FROM json_to_recordset(a.sights) AS s (containers text[], transforms text[], transform text,
      ids text[], made_at numeric[])
    CROSS JOIN unnest(s.ids, s.made_at) AS seen (id, made_at)
    LEFT JOIN LATERAL (
      SELECT t.id, t.container FROM tokens t
      WHERE t.tenant_id = $1 AND t.id = seen.id AND ${isLive}
        AND extract(epoch FROM t.created_at) * 1000 = seen.made_at LIMIT 1
    ) t ON true
    LEFT JOIN ${decidingGrant('s.containers', 's.transforms')} ON true
  ) f
), recorded AS (
  INSERT INTO audit_log
    (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id, token_ids)
  SELECT $1, $3, $4, $5, entity_id, CASE verdict WHEN 'shown' THEN 'success' ELSE 'refused' END,
    $6, ids FROM verdict
)
SELECT verdict FROM verdict ORDER BY at`,
};
