import { ofEveryTenant, type Subject } from './subject';

/** For lists of the audit log that are filtered by one thing. */
export const filteredLog = `
  CREATE INDEX audit_log_of_operation ON audit_log (tenant_id, operation, at DESC, id DESC)
    INCLUDE (entity_type);
  CREATE INDEX audit_log_of_type ON audit_log (tenant_id, entity_type, at DESC, id DESC)
    INCLUDE (operation);
  ALTER INDEX audit_log_default_tenant_id_operation_at_id_entity_type_idx
    RENAME TO audit_log_default_of_operation;
  ALTER INDEX audit_log_default_tenant_id_entity_type_at_id_operation_idx
    RENAME TO audit_log_default_of_type;`;

/**
 * The audit log, with a partition for each month. No role may change a line, and the data plane may
 * not read one. Lines are found by tenant and time, so there is no key on the id.
 */
export const auditLog: Subject = {
  create: `
    CREATE TABLE audit_log (
      id bigint GENERATED ALWAYS AS IDENTITY,
      tenant_id uuid NOT NULL,
      at timestamptz(3) NOT NULL DEFAULT now(),
      actor_id uuid,
      operation text NOT NULL,
      entity_type text NOT NULL,
      entity_id text NOT NULL,
      outcome text NOT NULL,
      trace_id text NOT NULL,
      token_ids text[],
      destination_host text
    ) PARTITION BY RANGE (at);
    CREATE INDEX audit_log_newest ON audit_log (tenant_id, at DESC, id DESC)
      INCLUDE (entity_type, operation);
    CREATE INDEX audit_log_of_entity ON audit_log (tenant_id, entity_id, at DESC, id DESC)
      INCLUDE (entity_type, operation);
    CREATE TABLE audit_log_default PARTITION OF audit_log DEFAULT;
    ALTER TABLE audit_log_default ENABLE ROW LEVEL SECURITY;
    ${filteredLog}
    GRANT SELECT, INSERT ON audit_log TO glovebox_management;
    GRANT INSERT ON audit_log TO glovebox_data;
    ${ofEveryTenant('audit_log')}`,
  drop: `DROP TABLE audit_log`,
};
