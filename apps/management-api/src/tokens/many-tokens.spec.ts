import { randomUUID } from 'node:crypto';
import type { Actor } from '@glovebox/access';
import type { Pagination } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import type { TokenFilter } from '@glovebox/vault';
import { asSql, inTenant } from '../database/in-tenant';
import { vacuum, watched } from '../spec-plans';
import { rule, useTestApi } from '../spec-api';

const count = 60_000;
const api = useTestApi();

beforeAll(async () => {
  const key = api.tenant.private_key;
  const metadata = { of: 'all', half: 'yes', few: 'yes' };
  const id = await api.storedToken({ data: 1, metadata, search_indexes: ['{{ data }}'] });
  expect((await api.get(`/tokens/${id}`, key)).status).toBe(200);
  // Copies of that token: few of them are cards, and few are in a container of their own.
  await api.admin.query(
    `INSERT INTO tokens (tenant_id, id, type, container, data, metadata, fingerprint, created_at)
     SELECT tenant_id, gen_random_uuid(), CASE WHEN n % 1000 = 0 THEN 'card' ELSE type END,
       CASE WHEN n % 2000 = 0 THEN '/pci/' ELSE container END, data, metadata, fingerprint,
       created_at - n * interval '1 ms'
     FROM tokens, generate_series(1, ${count - 1}) n WHERE id = $1`,
    [id],
  );
  await api.admin.query(
    `INSERT INTO token_terms (tenant_id, term, token_id)
     SELECT tenant_id, term, id FROM (
       SELECT tenant_id, id, row_number() OVER (ORDER BY created_at DESC) AS n FROM tokens) t
     JOIN (
       SELECT tenant_id, term, row_number() OVER () AS nth FROM token_terms
       WHERE token_id = $1) terms USING (tenant_id)
     WHERE nth = 1 OR nth = 2 AND n % 2 = 0 OR nth = 3 AND n % 10000 = 0 OR nth = 4
     ON CONFLICT DO NOTHING`,
    [id],
  );
  // Postgres would read the tables of a single tenant whole rather than by index.
  await api.admin.query(
    `INSERT INTO tokens (tenant_id, id, type, container, data, metadata, fingerprint, created_at)
     SELECT $1, id, type, container, data, metadata, fingerprint, created_at FROM tokens`,
    [api.foreign.tenant_id],
  );
  for (const table of ['tokens', 'token_terms', 'token_counts']) {
    await waitFor(() => vacuum(api.admin, table), { timeoutMs: 20_000 });
  }
}, 60_000);
