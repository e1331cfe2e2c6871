/** One subject of the schema. `drop` undoes `create`. */
export interface Subject {
  readonly create: string;
  readonly drop: string;
}

/** Functions with this run as the owner of the tables, to whom row-level security does not apply. */
export const asOwner = 'SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp';

/** The management API sees and writes the rows of the tenant that its transaction has entered. */
export const ofOneTenant = (table: string): string => `
  ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
  CREATE POLICY tenant ON ${table} TO glovebox_management
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());`;

/** The data plane serves all tenants beside it. */
export const ofEveryTenant = (table: string): string => `${ofOneTenant(table)}
  CREATE POLICY data_plane ON ${table} TO glovebox_data USING (true) WITH CHECK (true);`;
