import type { QueryRunner } from 'typeorm';
import { asOwner, ofOneTenant } from './0001-schema/subject';
import { shortWaits } from './build-index';
import type { Migration } from './migration';

/**
 * `listened_webhooks` names the webhooks that a listener has not confirmed yet; their bodies stay where
 * they are. It has no foreign key: a webhook is never refused because a listener has gone.
 */
const listeners = `
  CREATE TABLE webhook_listeners (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    application_id uuid NOT NULL,
    reactor_id uuid,
    last_part bigint NOT NULL DEFAULT 0,
    lease_until timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  );
  CREATE INDEX webhook_listeners_of_tenant ON webhook_listeners (tenant_id, lease_until);
  CREATE INDEX webhook_listeners_ended ON webhook_listeners (lease_until);
  GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_listeners TO glovebox_management;
  ${ofOneTenant('webhook_listeners')}

  CREATE TABLE listened_webhooks (
    listener_id uuid NOT NULL,
    nth bigint GENERATED ALWAYS AS IDENTITY,
    tenant_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    part bigint,
    PRIMARY KEY (listener_id, nth)
  );
  GRANT SELECT, UPDATE, DELETE ON listened_webhooks TO glovebox_management;
  ${ofOneTenant('listened_webhooks')}`;

/** In the transaction that adds the webhook, whichever process and release does it. */
const note = `
  CREATE FUNCTION note_listened_webhooks() RETURNS trigger
  LANGUAGE plpgsql ${asOwner} AS $$
  BEGIN
    INSERT INTO listened_webhooks (listener_id, tenant_id, delivery_id)
    SELECT l.id, w.tenant_id, w.id FROM fresh w
    JOIN webhook_listeners l ON l.tenant_id = w.tenant_id AND l.lease_until > now()
      AND (l.reactor_id IS NULL OR l.reactor_id = w.reactor_id);
    RETURN NULL;
  END
  $$;
  REVOKE ALL ON FUNCTION note_listened_webhooks() FROM PUBLIC;
  CREATE TRIGGER note_listened_webhooks AFTER INSERT ON webhook_deliveries
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION note_listened_webhooks();`;

/** One question for all listeners that wait in a process. It tells ids that the process knows. */
const news = `
  CREATE FUNCTION listeners_with_news(ids uuid[]) RETURNS SETOF uuid
  LANGUAGE sql STABLE ${asOwner} AS $$
    SELECT id FROM unnest(ids) id
    WHERE EXISTS (SELECT FROM listened_webhooks l WHERE l.listener_id = id)
  $$;
  REVOKE ALL ON FUNCTION listeners_with_news(uuid[]) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION listeners_with_news(uuid[]) TO glovebox_management;`;

const deleteEnded = `
  CREATE FUNCTION delete_ended_listeners(rows_max integer) RETURNS bigint
  LANGUAGE sql ${asOwner} AS $$
    WITH ended AS (
      DELETE FROM webhook_listeners WHERE id = ANY (ARRAY(
        SELECT id FROM webhook_listeners WHERE lease_until <= now()
        ORDER BY lease_until LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    ), unheard AS (
      DELETE FROM listened_webhooks WHERE ctid = ANY (ARRAY(
        SELECT w.ctid FROM listened_webhooks w
        WHERE NOT EXISTS (
          SELECT FROM webhook_listeners l WHERE l.id = w.listener_id AND l.lease_until > now())
        LIMIT rows_max FOR UPDATE SKIP LOCKED)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM ended) + (SELECT count(*) FROM unheard)
  $$;
  REVOKE ALL ON FUNCTION delete_ended_listeners(integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION delete_ended_listeners(integer) TO glovebox_data;`;

/** Copies of webhooks for those who listen, for a minute at a time. */
export class ListenToWebhooks0000000000018 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    const short = shortWaits('webhook_deliveries');
    await queryRunner.query(`${short}; ${listeners} ${note} ${news} ${deleteEnded}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`${shortWaits('webhook_deliveries')};
      DROP TRIGGER note_listened_webhooks ON webhook_deliveries;
      DROP FUNCTION note_listened_webhooks(), listeners_with_news(uuid[]),
        delete_ended_listeners(integer);
      DROP TABLE listened_webhooks, webhook_listeners`);
  }
}
