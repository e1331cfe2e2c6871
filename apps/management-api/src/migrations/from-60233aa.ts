import type { EntityManager } from 'typeorm';
import { filteredLog } from './0001-schema/audit-log';
import {
  deliveriesOfTokens,
  failingPaths,
  firstAttempts,
  sentAgain,
} from './0001-schema/deliveries';
import { eraseEndedBodies, eraseGoneAnswers } from './0001-schema/housekeeping';
import { answersOfTokens } from './0001-schema/idempotency';
import { copyToken, filteredLists, goneTokens, tokenCounts } from './0001-schema/vault';

/**
 * Makes the schema of `CreateSchema` of the one at commit 60233aa, and fills what is new in it.
 * Writers wait until the transaction ends.
 */
export async function bringOnFrom60233aa(sql: EntityManager): Promise<void> {
  // Gives up where an app is at work: it would wait, and everybody behind it.
  await sql.query(`SET LOCAL lock_timeout = '2s'`);
  for (const step of steps) await sql.query(step);
}

const steps = [
  goneTokens,
  `ALTER TABLE idempotency_keys
     ADD COLUMN outcome text, ADD COLUMN run_id uuid, ADD COLUMN ended_at timestamptz(3);
   ALTER TABLE webhook_deliveries ADD COLUMN sights jsonb, ADD COLUMN path text;
   ALTER TABLE ended_deliveries ADD COLUMN sights jsonb, ADD COLUMN path text`,
  // Nobody knows which tokens these answers show. A repeated call learns how it ended.
  `UPDATE idempotency_keys SET response = NULL, sights = '[]'
     WHERE status IS NOT NULL AND (sights IS NOT NULL OR run_bytes IS NOT NULL);
   UPDATE idempotency_keys
     SET outcome = CASE WHEN status < 400 THEN 'completed' ELSE 'failed' END
     WHERE status IS NOT NULL`,
  answersOfTokens,
  deliveriesOfTokens,
  firstAttempts,
  failingPaths,
  sentAgain,
  eraseEndedBodies,
  eraseGoneAnswers,
  tokenCounts,
  `INSERT INTO token_counts (tenant_id, container, type, count)
     SELECT tenant_id, container, type, count(*) FROM tokens GROUP BY 1, 2, 3`,
  `ALTER TABLE token_terms
     ADD COLUMN created_at timestamptz(3), ADD COLUMN container text, ADD COLUMN type text,
     ADD COLUMN expires_at timestamptz(3);
   UPDATE token_terms x
     SET created_at = t.created_at, container = t.container, type = t.type, expires_at = t.expires_at
     FROM tokens t WHERE t.tenant_id = x.tenant_id AND t.id = x.token_id`,
  copyToken,
  `DROP INDEX tokens_fingerprint`,
  filteredLists,
  filteredLog,
];
