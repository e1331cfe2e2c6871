import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex, buildLogIndex, withoutLongWaits } from './build-index';

const termColumns = ['created_at', 'container', 'type', 'expires_at'] as const;
/** Blocks of `token_terms` that one statement fills. */
const blocksAtOnce = 1_000;

/**
 * Every list that is filtered by one thing has an index in its order: a page reads its own entries
 * and those before them, and not all that match. Terms know what lists need to know of their token.
 */
export class OrderLists0000000000041 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await withoutLongWaits(queryRunner, [copyTokens]);
    await fillTerms(queryRunner);
    for (const [name, definition] of Object.entries(indexes)) {
      await buildIndex(queryRunner, name, definition);
    }
    for (const [name, columns] of Object.entries(logIndexes)) {
      await buildLogIndex(queryRunner, 'audit_log', name, columns);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX audit_log_of_operation, audit_log_of_type, token_terms_newest, tokens_of_group,
        tokens_fingerprint;
      CREATE INDEX tokens_fingerprint ON tokens (tenant_id, fingerprint);
      DROP TRIGGER copy_token ON token_terms;
      DROP FUNCTION copy_token();
      ALTER TABLE token_terms ${termColumns.map((name) => `DROP COLUMN ${name}`).join(', ')}`);
  }
}

const indexes = {
  token_terms_newest: `token_terms (tenant_id, term, created_at DESC, token_id)
    INCLUDE (container, type, expires_at)`,
  tokens_of_group: `tokens (tenant_id, container, type, created_at DESC, id) INCLUDE (expires_at)`,
  tokens_fingerprint: `tokens (tenant_id, fingerprint, created_at DESC, id)
    INCLUDE (container, type, expires_at)`,
};

const logIndexes = {
  audit_log_of_operation: '(tenant_id, operation, at DESC, id DESC) INCLUDE (entity_type)',
  audit_log_of_type: '(tenant_id, entity_type, at DESC, id DESC) INCLUDE (operation)',
};

// A change of a token writes its terms anew. The trigger serves the release before as well.
const copyTokens = `
  ALTER TABLE token_terms
    ADD COLUMN IF NOT EXISTS created_at timestamptz(3),
    ADD COLUMN IF NOT EXISTS container text,
    ADD COLUMN IF NOT EXISTS type text,
    ADD COLUMN IF NOT EXISTS expires_at timestamptz(3);
  CREATE OR REPLACE FUNCTION copy_token() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
  BEGIN
    SELECT t.created_at, t.container, t.type, t.expires_at
    INTO NEW.created_at, NEW.container, NEW.type, NEW.expires_at
    FROM tokens t WHERE t.tenant_id = NEW.tenant_id AND t.id = NEW.token_id;
    RETURN NEW;
  END $$;
  CREATE OR REPLACE TRIGGER copy_token BEFORE INSERT ON token_terms
    FOR EACH ROW EXECUTE FUNCTION copy_token()`;

/**
 * Fills the terms that were there before the trigger. A term that is locked is about to be deleted,
 * and is looked at again.
 */
async function fillTerms(queryRunner: QueryRunner): Promise<void> {
  for (;;) {
    const [{ blocks, isFilled }] = (await queryRunner.query(`
      SELECT (pg_relation_size('token_terms') / current_setting('block_size')::int)::int AS blocks,
        NOT EXISTS (SELECT FROM token_terms WHERE created_at IS NULL) AS "isFilled"`)) as [
      { blocks: number; isFilled: boolean },
    ];
    if (isFilled) return;
    for (let first = 0; first <= blocks; first += blocksAtOnce) {
      await queryRunner.query(
        `WITH empty AS (
           SELECT ctid, tenant_id, token_id FROM token_terms
           WHERE ctid >= $1::tid AND ctid < $2::tid AND created_at IS NULL
           FOR UPDATE SKIP LOCKED)
         UPDATE token_terms x SET created_at = t.created_at, container = t.container,
           type = t.type, expires_at = t.expires_at
         FROM empty JOIN tokens t ON t.tenant_id = empty.tenant_id AND t.id = empty.token_id
         WHERE x.ctid = empty.ctid`,
        [`(${first},0)`, `(${first + blocksAtOnce},0)`],
      );
    }
  }
}
